"""requirements.lock agrees with constraints.txt and pyproject.toml: run `make lock` after changing them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;]+)", re.MULTILINE)


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return {normalized(package): version for package, version in PIN.findall(text)}


def test_the_lock_has_the_versions_of_the_constraints() -> None:
    locked, constrained = pins("requirements.lock"), pins("constraints.txt")
    shared = locked.keys() & constrained.keys()
    assert {name: locked[name] for name in shared} == {name: constrained[name] for name in shared}


def test_the_lock_has_every_requirement_except_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {normalized(re.split(r"[<>=\[; ]", line)[0]) for line in requirements}
    assert names - pins("requirements.lock").keys() == {"torch"}


def test_every_package_has_hashes_and_no_host() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) > 150
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in text
