"""MLflow mirrors the files: what is unchanged stays, what differs is replaced."""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mlflow.entities import Metric
from tests.tracking.store_contents import artifacts, client_of, dump, history, runs_of

from aiayn import config
from aiayn.errors import DataError, ScoreError
from aiayn.tracking import sync as module
from aiayn.tracking.identity import RunIdentity, run_params
from aiayn.tracking.live import live_run
from aiayn.tracking.store import StoreError
from aiayn.tracking.sync import sync

IDENTITY = RunIdentity(
    scale="demo", run="en-de.base", task="en-de", model="base", fingerprint="f1" * 32
)

Write = Callable[..., None]


def test_a_second_sync_changes_no_row(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_results("en-de.big")  # with the very same fingerprint
    write_lock()
    assert sync(params, root).written == 2
    before = dump(root)
    again = sync(params, root)
    assert (again.runs, again.written) == (2, 0)
    assert dump(root) == before


def test_a_live_run_is_replaced_and_its_system_metrics_stay(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    with live_run(IDENTITY, run_params(params, "en-de.base")) as live:
        live.log(20, {"step": 20, "loss": 6.1234561, "dev_loss": None})  # not yet rounded
        while live.run_id is None:
            pass
        client_of(root).log_batch(live.run_id, [Metric("system/cpu", 50.0, 1, 0)])
    assert sync(params, root).written == 1
    (run,) = runs_of(root)
    assert run.info.run_id != live.run_id
    assert history(root, run, "train/loss") == [(20, 6.123456), (40, 5.5), (60, 4.25)]
    assert history(root, run, "system/cpu") == [(0, 50.0)]
    assert run.data.metrics["test/bleu"] == 31.4
    started, duration = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), timedelta(minutes=1)
    times = (started.timestamp() * 1000, (started + duration).timestamp() * 1000)
    assert (run.info.start_time, run.info.end_time) == times


def test_two_empty_stores_get_the_same_content(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock()
    other = root / "other"
    shutil.copytree(root, other)
    sync(params, root)
    sync(params, other)
    (first,), (second,) = runs_of(root), runs_of(other)
    assert second.info.run_id != first.info.run_id
    assert second.data.to_dictionary() == first.data.to_dictionary()
    assert history(other, second, "train/loss") == history(root, first, "train/loss")


@pytest.mark.parametrize(
    ("path", "old", "new", "metric"),
    [
        ("scores/en-de.base.json", "31.4", "12.5", "test/bleu"),
        ("history/en-de.base.csv", "4.25", "4.5", "train/loss"),
    ],
)
def test_a_run_whose_files_changed_is_replaced(
    root: Path, params: config.Config, write_results: Write, path: str, old: str, new: str,
    metric: str,
) -> None:  # fmt: skip
    write_results("en-de.base")
    sync(params, root)
    file = root / path
    for value in (new, old):
        file.write_text(re.sub(f"{re.escape(old)}|{re.escape(new)}", value, file.read_text()))
        assert sync(params, root).written == 1
        (run,) = runs_of(root)
        assert run.data.metrics[metric] == float(value)
        assert history(root, run, metric)[-1][1] == float(value)


def test_a_training_with_other_parameters_supersedes_that_of_the_same_name(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    metadata = root / "run_metadata/en-de.base.train.json"
    first = metadata.read_text()
    for content in (first, first.replace("f1f1", "f2f1"), first):  # the last equals the first
        metadata.write_text(content)
        sync(params, root)
        state = {
            run.data.tags["aiayn.fingerprint"]: run.data.tags["state"] for run in runs_of(root)
        }
        current = json.loads(content)["fingerprint"]
        assert state.pop(current) == "current"
        assert set(state.values()) <= {"superseded"}


def test_a_run_that_was_removed_from_the_parameters_is_superseded(
    root: Path, params: config.Config, write_results: Write
) -> None:
    kept = {name: run for name, run in params.runs.items() if run.seed == 1}
    without = params.replace(runs=kept, tested=[name for name in params.tested if name in kept])
    for run in ("en-de.base", "en-de.base-s2"):
        write_results(run)
    states = []
    for current in (params, without, params):
        sync(current, root)
        tags = [run.data.tags for run in runs_of(root)]
        states.append({tag["run"]: tag["state"] for tag in tags})
    all_current = dict.fromkeys(("en-de.base", "en-de.base-s2", "en-de.base over seeds"), "current")
    removed = {"en-de.base-s2": "superseded", "en-de.base over seeds": "superseded"}
    assert states == [all_current, all_current | removed, all_current]


def test_an_experiment_has_dvcs_name_and_replaces_nothing(
    root: Path, params: config.Config, write_results: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results("en-de.base")
    write_results("en-de.big")
    sync(params, root)
    before = {run.info.run_id for run in runs_of(root)}
    folder = root / ".dvc/tmp/exps/temporary"
    for run in ("en-de.base", "en-de.big"):
        write_results(run, folder)
    scores = folder / "scores/en-de.base.json"  # decoded differently after the same training
    scores.write_text(scores.read_text().replace("31.4", "12.5"))
    shutil.copy(root / "params.yaml", folder)
    monkeypatch.setenv("DVC_EXP_NAME", "boxy-lady")
    assert sync(params, folder).written == 1
    runs = {run.info.run_id: run.data for run in runs_of(root)}
    (experiment,) = (data for run_id, data in runs.items() if run_id not in before)
    assert (experiment.tags["state"], experiment.tags["experiment"]) == ("experiment", "boxy-lady")
    assert experiment.metrics["test/bleu"] == 12.5
    assert {runs[run_id].tags["state"] for run_id in before} == {"current"}
    monkeypatch.delenv("DVC_EXP_NAME")
    assert sync(params, root).written == 0


def test_a_store_that_was_copied_from_another_folder_is_not_written_to(
    root: Path, params: config.Config, write_results: Write, tmp_path: Path
) -> None:
    write_results("en-de.base")
    sync(params, root)
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    with pytest.raises(StoreError) as caught:
        sync(params, copy)
    assert str(caught.value) == (
        f"mlflow.db was copied from another folder and would write artifacts to "
        f"{(root / 'mlartifacts/aiayn/demo').as_uri()}. Remove mlflow.db; make sync writes it again"
    )


def test_the_report_is_replaced(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock()
    for content in ("<svg/>", "<svg>new</svg>"):
        (root / "reports/figures/training_loss.svg").write_text(content)
        sync(params, root)
        (report,) = runs_of(root, "attributes.run_name = 'report'")
        assert artifacts(root, report)["figures/training_loss.svg"].read_text() == content


def test_the_next_sync_completes_one_that_was_killed(
    root: Path, params: config.Config, write_results: Write, write_lock: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    write_results("en-de.base")
    write_lock()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("_metrics", "set_alias"):
        with monkeypatch.context() as patch:
            patch.setattr(module, step, killed)
            with pytest.raises(KeyboardInterrupt):
                sync(params, root)
    sync(params, root)
    (run,) = runs_of(root)
    assert run.data.metrics["test/bleu"] == 31.4
    client = client_of(root)
    assert len(client.search_logged_models([run.info.experiment_id])) == 1
    (version,) = client.search_model_versions("name = 'aiayn-demo-en-de'")
    assert version.run_id == run.info.run_id
    assert client.get_model_version_by_alias("aiayn-demo-en-de", "base").version == version.version


def test_results_of_other_parameters_are_skipped(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock(d_model=512)
    result = sync(params, root)
    assert result.runs == 0
    assert result.warnings == [
        "en-de.base was made with other parameters than params.yaml has now (models.base); "
        "skipped. Run dvc repro, or restore params.yaml."
    ]


def test_a_store_that_refuses_is_reported(
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
        (
            "history/en-de.base.csv",
            HEAD + "20,0.1,9,0.1,much,,\n",
            "line 2: loss must be a valid number",
        ),
        (
            "history/en-de.base.csv",
            HEAD + ",0.1,9,0.1,3,,\n",
            "line 2: step must be a valid integer",
        ),
        ("history/en-de.base.csv", "step,loss\n20,3\n", "the column epoch is missing"),
        ("scores/en-de.base.json", "{", "not JSON"),
        ("run_metadata/en-de.base.train.json", "[]", "must be a mapping"),
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
