"""What the graph asks DVC for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dpath
import pytest
import yaml
from dvc.repo import Repo
from dvc.utils.serialize import load_yaml
from hypothesis import given
from hypothesis import strategies as st

from aiayn.commands.repro import graph
from aiayn.commands.repro.graph import Graph


# of what DVC stands on
@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
def test_params_are_parsed_once_and_again_when_they_change(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = {
        f"train-{name}": {"cmd": f"touch {name}.txt", "params": ["rate"], "outs": [f"{name}.txt"]}
        for name in "abc"
    }
    (toy / "dvc.yaml").write_text(yaml.dump({"stages": stages}, Dumper=yaml.CSafeDumper))
    parsed: list[str] = []

    def counted(path: str, **options: Any) -> Any:
        parsed.append(Path(path).name)
        return load_yaml(path, **options)

    monkeypatch.setattr("aiayn.commands.repro.graph.load_yaml", counted)
    for rate in (1, 2):
        (toy / "params.yaml").write_text(f"rate: {rate}\n")
        here = Graph()
        for name in stages:
            assert here.is_changed(name), f"rate {rate} is new to {name}"
            assert here.begin(name)
            (toy / f"{name[-1]}.txt").touch()
            here.end(name)
        assert not any(here.is_changed(name) for name in stages)
        here.close()
        assert parsed.count("params.yaml") == rate


# of what DVC stands on
@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
def test_equal_parameters_stand_in_the_lock_once_and_dvc_reads_them_as_ever(toy: Path) -> None:
    rows = {name: {"N": 2, "adam": {"beta1": 0.9, "beta2": 0.98}} for name in "abc"}
    (toy / "params.yaml").write_text(yaml.dump(rows, Dumper=yaml.CSafeDumper))
    stages = {
        f"train-{name}": {"cmd": f"touch {name}.txt", "params": [name], "outs": [f"{name}.txt"]}
        for name in rows
    }
    (toy / "dvc.yaml").write_text(yaml.dump({"stages": stages}, Dumper=yaml.CSafeDumper))
    here = Graph()
    for name in stages:
        assert here.is_changed(name)
        assert here.begin(name)
        (toy / f"{name[-1]}.txt").touch()
        here.end(name)
    here.close()
    assert (toy / "dvc.lock").read_text().count("beta2") == 1
    locked = yaml.load((toy / "dvc.lock").read_bytes(), yaml.CSafeLoader)["stages"]
    assert {name: locked[f"train-{name}"]["params"]["params.yaml"] for name in rows} == {
        name: {name: row} for name, row in rows.items()
    }
    with Repo() as repo:
        assert not repo.status()
    # one of the rows that share a place in the file is another from now on
    rows["b"]["adam"] = {"beta1": 0.9, "beta2": 0.999}
    (toy / "params.yaml").write_text(yaml.dump(rows, Dumper=yaml.CSafeDumper))
    with Repo() as repo:
        assert [stage.name for stage in repo.reproduce()] == ["train-b"]
        assert not repo.status()


NAMES = st.text("ab", min_size=1, max_size=2)
PARAMETERS = st.recursive(
    st.one_of(st.integers(), st.none(), st.lists(st.integers(), max_size=2)),
    lambda below: st.dictionaries(NAMES, below, max_size=3),
)


@given(
    parameters=st.dictionaries(NAMES, PARAMETERS, max_size=3),
    names=st.lists(st.one_of(NAMES, st.sampled_from(["*", "?", "0"])), min_size=1, max_size=3),
)
def test_a_parameter_is_found_as_dpath_finds_it(
    parameters: dict[str, Any], names: list[str]
) -> None:
    def asked(get: Any) -> Any:
        try:
            return get(parameters, ".".join(names), separator=".")
        except (KeyError, ValueError) as error:
            return type(error)

    assert asked(dpath.get) == asked(graph._search)
