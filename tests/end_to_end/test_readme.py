"""The commands of the README and the how-tos work: run at a tiny scale where that takes seconds, else parsed.

What is not run is parsed by make's own dry run, by the parser of `aiayn`, by DVC's, and its names
of stages, parameters and files are held against those of the project.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.cli import parse_args
from dvc.utils.hydra import get_hydra_sweeps
from hydra import compose, initialize_config_dir

from aiayn import SHIPPED
from aiayn.commands.command_line import parser

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "docs/howto/share.md"  # test_share.py runs its commands
HOW_TOS = sorted({*(ROOT / "docs/howto").glob("*.md")} - {SHARED})
PAGES = [ROOT / "README.md", ROOT / "docs/change.md", *HOW_TOS]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
PROGRAMS = ("make", "aiayn", "dvc", "python", ".")

# why these are parsed alone
NOT_RUN = {
    ". .venv/bin/activate": "a shell's own",
    "aiayn classify who-acts.classifier": "the tiny scale has no labels; tests/commands runs one",
    "aiayn findings": "reads a published reproduction, of which the clone has none; tests/commands runs it",
    "aiayn join": "needs two clones; tests/commands runs it",
    "aiayn export": "needs an engine that is an extra; tests/commands/export runs it",
    "aiayn parse parsing.parser": "the tiny scale has no parser; tests/commands runs one",
    "aiayn verify": "test_verify.py runs it",
    "aiayn repro score@en-de.base": "the tiny scale has no big; test_repro.py runs targets",
    "dvc exp": "a name in the text",
    "dvc plots diff": "needs an experiment; test_repro.py compares two revisions",
    "make sweep": "tests/commands/repro/test_sweep.py",
    "dvc repro -f download@parsing": "the tiny scale has no trees",
    "make bench": "minutes",
    "make explorer": "tests/browser/test_explorer.py builds it",
    "make docs": "tests/browser builds the pages",
    "make gpu-check": "the tests of tests/gpu",
    "make kills": "minutes",
    "make lock": "asks the package index",
    "make params": "run in a clone of its own, below",
    "make publish": "needs a commit of its own; tests/commands/publication/test_publishable.py tries it",
    "make rehearse": "minutes; test_rehearsal.py rehearses two scales",
    "make report SCALE=multi30k_laptop": "a quarter of an hour",
    "make repro": "the demo, minutes; the tiny scale has run by the same program",
    "make test": "is running",
    "make verify": "test_verify.py runs what it does",
    "make ui": "a server; tests/browser starts it",
}


def commands() -> list[str]:
    """What stands in fences and, with words after it, in backticks; comments are left out."""
    text = re.sub(r"```.*?```", "", TEXT, flags=re.S)
    fenced = [
        line
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, flags=re.S | re.M)
        if not language
        for line in block.splitlines()
    ]
    found = [part.strip() for line in fenced for part in re.sub(r"(?<!\S)#.*", "", line).split(";")]
    found += [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", text)]
    found = [command.removeprefix(".venv/bin/") for command in found]
    return sorted({c for c in found if c.split(" ")[0] in PROGRAMS and " " in c})


def of(program: str) -> list[list[str]]:
    split = [shlex.split(command) for command in commands()]
    return [words[1:] for words in split if words[0] == program]


def stage_names() -> set[str]:
    stages = yaml.load((ROOT / "dvc.yaml").read_text(), yaml.CSafeLoader)["stages"]
    params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    names = {*stages}
    for name, stage in stages.items():
        if "foreach" in stage:
            names |= {f"{name}@{key}" for key in params[stage["foreach"].strip("${}")]}
    return names


def test_there_are_commands_of_every_program() -> None:
    assert {command.split(" ")[0] for command in commands()} == {*PROGRAMS}


def begins(command: str, name: str) -> bool:
    """Whether a command's first words are those of `name`."""
    return f"{command} ".startswith(f"{name} ")


def is_run(command: str) -> bool:
    return not any(begins(command, name) for name in NOT_RUN)


@pytest.mark.parametrize("command", [c for c in commands() if is_run(c)])
def test_it_runs(finished: Any, command: str) -> None:
    """Where everything is up to date. make is told that the environment is there."""
    program, *words = shlex.split(command.replace("STAGE ...", "report").replace("STAGE", "report"))
    finished.succeed(program, *(["-o", ".venv/.ready"] if program == "make" else []), *words)


@pytest.mark.parametrize("words", [w for w in of("make") if w[0] == "params"], ids=" ".join)
def test_it_composes(clone: Any, words: list[str]) -> None:
    before = (clone.root / "params.yaml").read_text()
    clone.succeed("make", "-o", ".venv/.ready", *words)
    composed = (clone.root / "params.yaml").read_text()
    assert (composed == before) is (words == ["params"])


def test_what_is_not_run_is_still_on_a_page() -> None:
    assert all(any(begins(command, name) for command in commands()) for name in NOT_RUN)


@pytest.mark.parametrize("words", of("make"), ids=" ".join)
def test_make(words: list[str]) -> None:
    # -o: the environment need not be there, nor newer than what it is made from
    command = ["make", "--dry-run", "-o", ".venv/.ready", *words]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("words", of("aiayn"), ids=" ".join)
def test_aiayn(words: list[str]) -> None:
    parsed = parser().parse_args([word for word in words if word not in ("STAGE", "...")])
    if "run" in parsed:
        assert parsed.run in yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)[
            "runs"
        ] | {SHIPPED: {}}


@pytest.mark.parametrize("words", [w for w in of("dvc") if w != ["exp"]], ids=" ".join)
def test_dvc(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["dvc"])  # DVC's parser looks there for -q and -v
    parsed = parse_args(
        [word for word in words if word not in ("STAGE", "NAME")] + words.count("NAME") * ["x"]
    )
    if words[0] == "repro":
        assert {*parsed.targets} <= stage_names()
    changes = [change for change in getattr(parsed, "set_param", None) or [] if "..." not in change]
    with initialize_config_dir(str(ROOT / "conf"), version_base=None):
        for experiment in get_hydra_sweeps({"params.yaml": changes}):
            compose("config", experiment["params.yaml"])


@pytest.mark.parametrize("words", of("python"), ids=" ".join)
def test_scripts(words: list[str]) -> None:
    assert (ROOT / words[0]).is_file()
    options = [word for word in words[1:] if word.startswith("--")]
    assert all(f'"{option}"' in (ROOT / words[0]).read_text() for option in options)
