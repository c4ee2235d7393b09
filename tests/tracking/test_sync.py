"""The sync mirrors every file's content, once."""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.tracking.store_contents import artifacts, dump, history, runs_of

from aiayn import config
from aiayn.errors import DataError, ScoreError
from aiayn.tracking.connection import StoreError
from aiayn.tracking.live import open_run
from aiayn.tracking.names import RunIdentity, run_params
from aiayn.tracking.sync import sync

FINGERPRINT = "f1" * 32

Write = Callable[..., None]


def test_a_second_sync_changes_no_row(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_results("en-de.big")  # with the very same fingerprint
    write_lock()
    assert sync(params, root).created == 2
    before = dump(root)
    again = sync(params, root)
    assert (again.runs, again.created, again.points) == (2, 0, 0)
    assert dump(root) == before


def test_a_live_run_is_completed_not_doubled(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    circumstances = json.loads((root / "circumstances/en-de.base.train.json").read_text())
    identity = RunIdentity(
        scale="demo",
        run="en-de.base",
        task="en-de",
        model="base",
        fingerprint=circumstances["fingerprint"],
    )
    with open_run(identity, run_params(params, "en-de.base"), root=root) as live:
        live.log(20, {"step": 20, "loss": 6.1234561, "dev_loss": None})  # not yet rounded
        live.log(40, {"step": 40, "loss": 5.5})
    done = sync(params, root)
    assert (done.created, done.complaints) == (0, [])
    (run,) = runs_of(root)
    assert run.info.run_id == live.run_id
    assert history(root, run, "train/loss") == [(20, 6.1234561), (40, 5.5), (60, 4.25)]
    assert run.data.metrics["test/bleu"] == 31.4


def test_an_empty_store_is_filled_with_the_same(
    root: Path,
    params: config.Config,
    write_results: Write,
    write_lock: Write,
    empty_database: Path,
) -> None:
    write_results("en-de.base")
    write_lock()
    sync(params, root)
    (first,) = runs_of(root)
    steps = history(root, first, "train/loss")
    (root / "other").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{root}/other/mlflow.db")
        patch.chdir(root)  # where MLflow puts the artifacts of a store that is not ours
        shutil.copyfile(empty_database, root / "other/mlflow.db")
        sync(params, root)
    (second,) = runs_of(root / "other")
    assert second.data.to_dictionary() == first.data.to_dictionary()
    assert history(root / "other", second, "train/loss") == steps
    assert len(runs_of(root)) == 1


def test_a_new_score_is_the_latest_and_the_old_one_stays(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    sync(params, root)
    scores = root / "scores/en-de.base.json"
    for value in ("12.5", "31.4"):
        scores.write_text(re.sub(r"31\.4|12\.5", value, scores.read_text()))
        assert sync(params, root).points == 1
        (run,) = runs_of(root)
        assert run.data.metrics["test/bleu"] == float(value)
    assert [value for _, value in history(root, run, "test/bleu")] == [31.4, 12.5, 31.4]


def test_a_course_that_changed_is_corrected(
    root: Path, params: config.Config, write_results: Write
) -> None:
    """The same training forced again on another machine: files are the truth."""
    write_results("en-de.base")
    sync(params, root)
    path = root / "history/en-de.base.csv"
    for old, new in (("5.5,,", "5.75,,"), ("5.75,,", "5.5,,")):
        path.write_text(path.read_text().replace(old, new))
        assert sync(params, root).points == 1
        assert sync(params, root).points == 0
    (run,) = runs_of(root)
    values = [value for step, value in history(root, run, "train/loss") if step == 40]
    assert values == [5.5, 5.75, 5.5]


def test_the_report_is_attached_once(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_results("en-de.big")
    write_lock()
    for content in ("<svg/>", "<svg>new</svg>"):
        (root / "reports/figures/training_loss.svg").write_text(content)
        sync(params, root)
        (report,) = runs_of(root, "attributes.run_name = 'report'")
        figure = artifacts(root, report)["figures/training_loss.svg"]
        assert figure.read_text() == content
    assert len(list((root / "mlartifacts").rglob("training_loss.svg"))) == 1


def test_a_run_that_is_logged_again_is_looked_at_again(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    sync(params, root)
    (before,) = runs_of(root)
    facts = RunIdentity(
        scale="demo", run="en-de.base", task="en-de", model="base", fingerprint=FINGERPRINT
    )
    with open_run(facts, {}, root=root):
        pass
    assert runs_of(root)[0].data.tags["stage"] == "train"
    sync(params, root)
    assert runs_of(root)[0].data.tags == before.data.tags


def test_results_of_other_parameters_are_left_out(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock(d_model=512)
    done = sync(params, root)
    assert done.runs == 0
    assert done.complaints == [
        "en-de.base was made with other parameters than params.yaml has now (models.base); "
        "left out. Run dvc repro, or restore params.yaml."
    ]


def test_params_that_mlflow_cannot_change_are_complained_of(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    sync(params, root)
    data = yaml.load((root / "params.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    data["runs"]["en-de.base"]["seed"] = 7
    (root / "params.yaml").write_text(yaml.dump(data, Dumper=yaml.CSafeDumper), encoding="utf-8")
    for _ in range(2):
        done = sync(config.load(root / "params.yaml"), root)
        assert done.complaints == [
            "en-de.base: seed is 7, but MLflow holds 1 and never changes a param."
        ]


def test_a_store_that_refuses_is_said_to(
    root: Path, params: config.Config, write_results: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results("en-de.base")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.socket() as bound:  # bound, but not listening
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(StoreError, match="Connection refused"):
            sync(params, root)


def test_nothing_to_mirror_touches_no_store(tmp_path: Path, root: Path) -> None:
    (root / "mlflow.db").unlink()
    assert sync(config.load(root / "params.yaml"), root).runs == 0
    assert not (tmp_path / "mlflow.db").exists()


HEAD = "step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity\n"


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("history/en-de.base.csv", HEAD + "20,0.1,9,0.1,much,,\n", "line 2: loss is 'much'"),
        ("history/en-de.base.csv", HEAD + ",0.1,9,0.1,3,,\n", "line 2: step is ''"),
        ("history/en-de.base.csv", "step,loss\n20,3\n", "the column epoch is missing"),
        ("scores/en-de.base.json", "{", "not JSON"),
        ("circumstances/en-de.base.train.json", "[]", "must be a mapping"),
    ],
)
def test_a_damaged_file_is_named(
    root: Path,
    params: config.Config,
    write_results: Write,
    path: str,
    content: str,
    message: str,
) -> None:
    write_results("en-de.base")
    (root / path).write_text(content)
    with pytest.raises((DataError, ScoreError), match=message) as error:
        sync(params, root)
    assert str(error.value).startswith(str(root / path))
    assert "\n" not in str(error.value)
