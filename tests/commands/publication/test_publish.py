"""Publishing: everything but weights and text is copied, and nothing of an earlier copy remains."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from aiayn.commands.publication.publish import publish
from aiayn.errors import ConfigError, GraphError

ROOT = Path(__file__).parents[3]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_all_but_weights_and_text_is_copied(
    reproduction: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reproduction)
    mark_committed(reproduction)
    results = files(Path())
    shutil.copy(ROOT / "dvc.yaml", "dvc.yaml")
    stages = yaml.safe_load(Path("dvc.lock").read_text())["stages"]
    stages["train@en-de.removed"] = {"outs": [{"path": "history/en-de.removed.csv"}]}
    Path("dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    manifest = "data/text/en-de/manifest.json"
    removed = ("history/en-de.removed.csv", "run_metadata/en-de.removed.train.json")
    for name in (
        "models/en-de.base/a.safetensors", "data/text/en-de/test.source", manifest, removed[0],
    ):  # fmt: skip
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(name)
    metadata = json.loads(Path("run_metadata/en-de.base.train.json").read_text())
    Path(removed[1]).write_text(json.dumps({**metadata, "commit": "4f2a-dirty"}))
    folder = publish("toy-2", force=True)
    assert folder == Path("reproductions/toy-2")
    assert files(folder) == results | {"README.md", manifest}
    assert (folder / "README.md").read_text().startswith("# toy-2: ")
    published = yaml.safe_load((folder / "dvc.lock").read_text())["stages"]
    assert published.keys() == stages.keys() - {"train@en-de.removed"}
    assert "\n| toy-2 | toy |" in Path("reproductions/README.md").read_text()
    Path("history/en-de.base.csv").unlink()
    publish("toy-2", force=True)
    assert files(folder) == (results - {"history/en-de.base.csv"}) | {"README.md", manifest}
    assert {path.name for path in folder.parent.iterdir()} == {"README.md", "toy-2"}


def mark_committed(reproduction: Path) -> None:
    for path in reproduction.glob("run_metadata/*.train.json"):
        path.write_text(path.read_text().replace("-dirty", ""))


def test_a_training_of_uncommitted_code_is_not_published(
    reproduction: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reproduction)
    with pytest.raises(GraphError, match=r"4f2a-dirty: its code was not committed"):
        publish("toy", force=True)
    assert not Path("reproductions").exists()


@pytest.mark.parametrize("same_code", [True, False])
def test_files_that_were_not_committed_may_be_no_code_of_the_training(
    reproduction: Path, monkeypatch: pytest.MonkeyPatch, same_code: bool
) -> None:
    """A training at the very commit, with the same digests of its code, shows that."""
    monkeypatch.chdir(reproduction)
    first, second = "en-de.base", "en-de.small"
    params = yaml.safe_load(Path("params.yaml").read_text())
    params["runs"][second] = {**params["runs"][first], "seed": 2}
    Path("params.yaml").write_text(yaml.safe_dump(params))
    shutil.copy(ROOT / "dvc.yaml", "dvc.yaml")
    metadata = json.loads(Path(f"run_metadata/{first}.train.json").read_text())
    for run, end in ((first, "-dirty"), (second, "")):
        record = {**metadata, "commit": "4f2a" * 10 + end}
        Path(f"run_metadata/{run}.train.json").write_text(json.dumps(record))
    stages = yaml.safe_load(Path("dvc.lock").read_text())["stages"]
    for run, code in ((first, "a"), (second, "a" if same_code else "b")):
        deps = [{"path": "src/aiayn/model", "md5": code}, {"path": f"data/{run}", "md5": run}]
        stages[f"train@{run}"] = {"cmd": "python", "deps": deps}
    Path("dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    if same_code:
        assert "-dirty" in (publish("toy", force=True) / "README.md").read_text()
    else:
        with pytest.raises(GraphError, match="-dirty: its code was not committed"):
            publish("toy", force=True)


def test_invalid_names_and_outdated_results_are_not_published(
    reproduction: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reproduction)
    with pytest.raises(ConfigError, match=r"'\.\./x' is not a valid name"):
        publish("../x")
    with pytest.raises(GraphError, match="Publish from a clone"):
        publish("toy")
    assert not Path("reproductions").exists()
