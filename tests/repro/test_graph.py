"""What the graph asks DVC for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.utils.serialize import load_yaml

from aiayn.repro.graph import Graph


# of what DVC stands on
@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
def test_params_are_parsed_once_and_again_when_they_change(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = {
        f"train-{name}": {"cmd": f"touch {name}.txt", "params": ["rate"], "outs": [f"{name}.txt"]}
        for name in "abc"
    }
    (toy / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
    parsed: list[str] = []

    def counted(path: str, **options: Any) -> Any:
        parsed.append(Path(path).name)
        return load_yaml(path, **options)

    monkeypatch.setattr("aiayn.repro.graph.load_yaml", counted)
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
