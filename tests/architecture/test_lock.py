"""requirements.lock is of constraints.txt and pyproject.toml: `make lock` after a change there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;]+)", re.MULTILINE)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return {normal(package): version for package, version in PIN.findall(text)}


def test_the_lock_has_the_versions_of_the_constraints() -> None:
    locked, constrained = pins("requirements.lock"), pins("constraints.txt")
    shared = locked.keys() & constrained.keys()
    assert {name: locked[name] for name in shared} == {name: constrained[name] for name in shared}


def test_the_lock_has_what_the_project_asks_for_but_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {normal(re.split(r"[<>=\[; ]", line)[0]) for line in wanted}
    assert names - pins("requirements.lock").keys() == {"torch"}


def test_every_package_has_hashes_and_no_host() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) > 150
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in text
