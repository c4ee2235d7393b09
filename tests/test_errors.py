"""How our programs exit; their error messages are tested where the errors are raised."""

import subprocess
import sys

import pytest
import torch

from aiayn.errors import one_line_errors

SCRIPT = """
from aiayn.errors import one_line_errors
class Cycle:
    def __init__(self):
        self.itself = self
    def __del__(self):
        print("collected")
cycles = [Cycle() for _ in range(3)]
def main():
    print("done")
{call}
"""


def test_a_gpu_without_memory_is_one_line() -> None:
    message = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has ..."

    @one_line_errors
    def main() -> None:
        raise torch.OutOfMemoryError(message)

    with pytest.raises(SystemExit) as stopped:
        main()
    assert str(stopped.value).startswith("OutOfMemoryError: CUDA out of memory. Use a GPU with")
    assert "\n" not in str(stopped.value)


def test_other_errors_keep_their_traceback() -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        one_line_errors(_fail)()


def _fail() -> None:
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("call", "is_collected"), [("main()", True), ("one_line_errors(main)()", False)]
)
def test_no_garbage_collection_at_exit(call: str, is_collected: bool) -> None:
    """At exit, Python collects the cycles in all imported modules; our programs skip that."""
    command = [sys.executable, "-c", SCRIPT.format(call=call)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    assert outcome.stdout == "done\n" + "collected\n" * 3 * is_collected
