"""How a program of ours ends; what it says when something went wrong is tested by what can."""

import subprocess
import sys

import pytest

ENDING = """
from aiayn.errors import one_line_errors
class Ring:
    def __init__(self):
        self.itself = self
    def __del__(self):
        print("was searched for")
rings = [Ring() for _ in range(3)]
def main():
    print("done")
{ending}
"""


@pytest.mark.parametrize(
    ("ending", "searches"), [("main()", True), ("one_line_errors(main)()", False)]
)
def test_the_end_searches_no_garbage(ending: str, searches: bool) -> None:
    """Python looks through all that was imported for rings that nobody holds; ours are left."""
    command = [sys.executable, "-c", ENDING.format(ending=ending)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    assert outcome.stdout == "done\n" + "was searched for\n" * 3 * searches
