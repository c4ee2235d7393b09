"""The command line of aiayn: errors of one line, and help without costly imports."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from aiayn.commands import main
from aiayn.commands.command_line import parse_arguments
from aiayn.commands.inference import ATTENTION_KINDS
from aiayn.results.illustrations import KINDS

RUN = "en-de.base"
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trnslate", RUN], "aiayn: argument command: invalid choice: 'trnslate'"),
        (["translate"], "aiayn translate: the following arguments are required: run, text."),
        (
            ["translate", RUN, "x", "--beam", "four"],
            "aiayn translate: argument --beam: invalid int",
        ),
        (["translate", RUN, "--beam", "4", "x", "-y"], "aiayn: unrecognized arguments: x -y."),
        (["verify", "a", "b"], "aiayn: unrecognized arguments: b."),
        (
            ["repro", "--jobs", "0"],
            "aiayn repro: argument --jobs: '0' is not a positive integer.",
        ),
    ],
)
def test_an_error_in_the_command_line_is_one_line(
    arguments: list[str], message: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    error_text = capsys.readouterr().err
    assert error_text.startswith(message)
    assert error_text.endswith(" --help\n")
    assert error_text.count("\n") == 1


def test_sentences_may_follow_options() -> None:
    for arguments in (["--beam", "4", "a b", "c"], ["a b", "--beam", "4", "c"], ["a b", "c"]):
        assert parse_arguments(["translate", RUN, *arguments]).text == ["a b", "c"]


def test_the_version(capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert re.fullmatch(r"aiayn [\d.]+\n", capsys.readouterr().out)


def test_the_kinds_of_attention_are_those_that_are_recorded() -> None:
    assert ATTENTION_KINDS == KINDS


def test_help_needs_no_costly_import() -> None:
    costly = "{'torch', 'numpy', 'mlflow', 'pandas', 'matplotlib', 'dvc', 'hydra', 'sacrebleu'}"
    code = (
        "import sys, aiayn.commands\n"
        "try: aiayn.commands.main(['--help'])\n"
        f"finally: print({costly} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: aiayn ")
    assert done.stderr == "set()\n"
