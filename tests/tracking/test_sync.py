"""The sync mirrors every file's content, once."""

from __future__ import annotations

import csv
import json
import re
import shutil
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from mlflow import MlflowClient
from mlflow.entities import Run

from aiayn import config
from aiayn.errors import DataError, ScoreError
from aiayn.tracking.connection import StoreError
from aiayn.tracking.live import open_run
from aiayn.tracking.names import RunIdentity, run_params
from aiayn.tracking.sync import sync

FINGERPRINT = "f1" * 32

Write = Callable[..., None]


def client_of(root: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{root}/mlflow.db")


def runs_of(root: Path, search: str = "tags.stage != 'report'") -> list[Run]:
    client = client_of(root)
    found = client.get_experiment_by_name("aiayn/demo")
    return list(client.search_runs([found.experiment_id], search)) if found else []


def artifacts(root: Path, run: Run) -> dict[str, Path]:
    folder = root / "mlartifacts/aiayn/demo" / run.info.run_id / "artifacts"
    return {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}


def dump(root: Path) -> list[str]:
    """Every row of the store, as SQL."""
    connection = sqlite3.connect(root / "mlflow.db")
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def history(root: Path, run: Run, metric: str) -> list[tuple[int, float]]:
    """(step, value) by step; values of one step in the order in which they came."""
    points = client_of(root).get_metric_history(run.info.run_id, metric)
    return [(p.step, p.value) for p in sorted(points, key=lambda p: (p.step, p.timestamp))]


def test_all_that_the_files_say_is_there(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock()
    done = sync(params, root)
    assert (done.runs, done.created, done.complaints) == (1, 1, [])
    (run,) = runs_of(root)
    assert run.info.run_name == "en-de.base"
    assert run.info.status == "FINISHED"
    assert run.info.end_time - run.info.start_time == 60_000
    model = params.models["base"]
    assert run.data.params["d_model"] == str(model.d_model)
    assert run.data.params["d_k"] == str(model.d_model // model.h)
    assert run.data.params["training.batch_tokens"] == str(params.training.batch_tokens)
    assert history(root, run, "train/loss") == [(20, 6.123456), (40, 5.5), (60, 4.25)]
    assert history(root, run, "dev/perplexity") == [(60, 61.867809)]
    final = ("test/bleu", "test/bleu_low", "test/bleu_high", "dev/bleu", "work/training_seconds")
    assert [run.data.metrics[name] for name in final] == [31.4, 30.5, 32.25, 33.0, 60.0]
    tags = run.data.tags
    assert tags["stage"] == "score"
    assert (tags["commit"], tags["dirty"]) == ("4f2a" * 10, "true")
    assert tags["host"] == "hand-made"
    assert run.data.metrics["work/decoding_sentences_per_second"] == 0.4
    assert tags["versions.torch"] == "2.13.0"
    assert tags["decoding.beam"] == str(params.task("en-de").decoding.beam)
    assert tags["weights.md5"] == "d" * 32
    assert {"dvc.download", "dvc.train", "dvc.average"} <= set(tags)


def test_datasets_carry_dvcs_digest(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock()
    sync(params, root)
    (run,) = runs_of(root)
    assert run.inputs is not None
    named = {i.dataset.name: i for i in run.inputs.dataset_inputs}
    assert set(named) == {"en-de/train", "en-de/dev", "en-de/test"}
    assert {i.dataset.digest for i in named.values()} == {"a" * 32 + ".dir"}
    assert [(t.key, t.value) for t in named["en-de/dev"].tags] == [
        ("mlflow.data.context", "validation")
    ]


def test_small_files_are_attached_and_weights_are_not(
    root: Path, params: config.Config, write_results: Write
) -> None:
    write_results("en-de.base")
    weights = root / "models/en-de.base/averaged.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    sync(params, root)
    (run,) = runs_of(root)
    attached = artifacts(root, run)
    assert set(attached) == {"samples/test.csv", "scores.json"}
    with attached["samples/test.csv"].open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table))
    assert rows == [
        ["source", "reference", "hypothesis"],
        ["a house", "ein Haus", "ein Haus"],
        ["two\u2028halves, one line", "zwei Hälften", "<script>"],
    ]


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


def test_a_parser_and_an_untested_run_have_their_own_metrics(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    measures = {
        "bracket_f1": 80.5,
        "bracket_precision": 81.0,
        "bracket_recall": 80.0,
        "exact_match": 40.0,
    }
    brackets = {
        name: {"value": value, "signature": f"of {name}"} for name, value in measures.items()
    }
    write_results("parsing.parser")
    on = {"corpora": {"demo": {"pairs": 9}}, "pairs": 9, "sha256": {}}
    split = {
        "set": on,
        **brackets,
        "counts": {"sentences": 9, "repaired": 3},
        "lengths": {"1-10": {"f1": 80, "sentences": 9}},
    }
    (root / "scores/parsing.parser.json").write_text(
        json.dumps(
            {
                "run": "parsing.parser",
                "task": "parsing",
                "model": "parser",
                "splits": {"test": split},
            }
        )
    )
    write_results("en-de.C_N2")
    dev = {"set": on, "bleu": {"value": 24.6, "signature": "of dev"}}
    (root / "scores/en-de.C_N2.json").write_text(
        json.dumps({"run": "en-de.C_N2", "task": "en-de", "model": "C_N2", "splits": {"dev": dev}})
    )
    base = {"mean": 4.5, "sd": 0.5, "outcome": "undecided"}
    effect = {"value": -6.5, "low": -9, "high": -4, "p_value": 0.001, "corrected": 0.02}
    lower = {"mean": 24.6, "effect": effect, "claim": "lower", "outcome": "lower"}
    seed = {"run": "en-de.C_N2", "perplexity": 4.5, "bleu": 24.6}
    sentences = {"difference": -6.8, "p_value": 0.125}
    comparison = {
        "task": "en-de", "base": "brief", "split": "dev", "signature": "s", "ways": {}, "findings": {},
        "test_set": {"corpora": {}, "pairs": 9, "sha256": {}},
        "models": {
            "brief": {"perplexity": base, "bleu": base, "seeds": {"1": {**seed, "run": "en-de.brief"}}},
            "C_N2": {"perplexity": base, "bleu": lower, "seeds": {"1": {**seed, "sentences": sentences}}},
        },
    }  # fmt: skip
    sides = {"source": 1, "target": 1}
    costs = {
        "vocabulary": 100, "parameters": 1234, "forward_flops": sides, "training_flops": sides,
        "pair_flops": {"forward": 10, "training": 30},
    }  # fmt: skip
    profile = {"sentence_pieces": 5, "models": {"C_N2": {"en-de": costs}}, "paper": {}}
    for path, content in (
        ("comparisons/table_3.json", comparison),
        ("profiles/models.json", profile),
    ):
        (root / path).parent.mkdir()
        (root / path).write_text(json.dumps(content))
    write_lock()
    lock = yaml.safe_load((root / "dvc.lock").read_text())
    outs = [{"path": "models/en-de.C_N2/checkpoints", "md5": "e" * 32 + ".dir"}]
    lock["stages"]["train@en-de.C_N2"] = {"cmd": "python pipeline/train.py", "outs": outs}
    (root / "dvc.lock").write_text(yaml.safe_dump(lock))
    sync(params, root)

    (parser,) = runs_of(root, "tags.task = 'parsing'")
    found = {name: parser.data.metrics[f"test/{name}"] for name in measures}
    assert found == measures
    assert parser.data.metrics["test/repaired"] == 3
    assert parser.data.tags["signature.bracket_f1"] == "of bracket_f1"
    assert "row" not in parser.data.tags

    (variation,) = runs_of(root, "tags.row = 'C_N2'")
    names = (
        "dev/bleu",
        "dev/bleu_difference",
        "dev/bleu_difference_p",
        "dev/bleu_sentences_p",
        "work/parameters",
        "work/pair_flops_training",
    )
    assert [variation.data.metrics[name] for name in names] == [24.6, -6.5, 0.02, 0.125, 1234, 30]
    assert not [name for name in variation.data.metrics if name.startswith("test/")]
    tags = variation.data.tags
    assert (tags["group"], tags["tested"], tags["signature.bleu"]) == ("C", "false", "of dev")
    assert (tags["bleu_moves"], tags["perplexity_moves"]) == ("as in the paper", "undecided")
    assert tags["weights.path"] == "models/en-de.C_N2/checkpoints"
    assert tags["weights.md5"] == "e" * 32 + ".dir"


def test_scores_stand_first_by_name(
    root: Path, params: config.Config, write_results: Write
) -> None:
    """The UI orders groups of metrics by name."""
    write_results("en-de.base")
    sync(params, root)
    (run,) = runs_of(root)
    groups = dict.fromkeys(name.split("/")[0] for name in sorted(run.data.metrics))
    assert list(groups) == ["dev", "test", "train", "work"]


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
    data = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    data["runs"]["en-de.base"]["seed"] = 7
    (root / "params.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
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
