"""How our programs exit; their error messages are tested where the errors are raised."""

import subprocess
import sys

import pytest

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


@pytest.mark.parametrize(
    ("call", "is_collected"), [("main()", True), ("one_line_errors(main)()", False)]
)
def test_no_garbage_collection_at_exit(call: str, is_collected: bool) -> None:
    """At exit, Python collects the cycles in all imported modules; our programs skip that."""
    command = [sys.executable, "-c", SCRIPT.format(call=call)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    assert outcome.stdout == "done\n" + "collected\n" * 3 * is_collected
