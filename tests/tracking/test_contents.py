"""What an MLflow run contains after a sync: metrics, parameters, tags, datasets and files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

from tests.tracking.store_contents import artifacts, history, runs_of

from aiayn import config
from aiayn.tracking.sync import sync

Write = Callable[..., None]


def test_a_run_has_everything_in_the_files(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock()
    result = sync(params, root)
    assert (result.runs, result.written, result.warnings) == (1, 1, [])
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
    final = ("test/bleu", "dev/bleu", "work/training_seconds")
    assert [run.data.metrics[name] for name in final] == [31.4, 33.0, 60.0]
    tags = run.data.tags
    assert tags["stage"] == "score"
    assert (tags["commit"], tags["dirty"]) == ("4f2a" * 10, "true")
    assert tags["host"] == "hand-made"
    assert run.data.metrics["work/decoding_sentences_per_second"] == 0.4
    assert run.data.params["decoding.beam"] == str(params.task("en-de").decoding.beam)
    assert tags["weights.md5"] == "d" * 32
    assert tags["state"] == "current"
    attached = {name: path.read_text() for name, path in artifacts(root, run).items()}
    assert {"download", "train", "average"} <= set(json.loads(attached["dvc_digests.json"]))
    assert json.loads(attached["training.json"])["versions"] == {"torch": "2.13.0"}
    assert json.loads(attached["scores.json"])["splits"]["test"]["bleu"]["low"] == 30.5


def test_tags_fit_on_a_screen_and_metrics_have_no_intervals(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    """Digests, versions and intervals are in the attached files instead."""
    write_results("en-de.base")
    write_lock()
    sync(params, root)
    (run,) = runs_of(root)
    assert len(run.data.tags) <= 20
    assert not [name for name in run.data.metrics if name.endswith(("_low", "_high"))]


def test_datasets_have_dvcs_digest(
    root: Path, params: config.Config, write_results: Write, write_lock: Write
) -> None:
    write_results("en-de.base")
    write_lock()
    sync(params, root)
    (run,) = runs_of(root)
    assert run.inputs is not None
    datasets = {i.dataset.name: i for i in run.inputs.dataset_inputs}
    assert set(datasets) == {"en-de/train", "en-de/dev", "en-de/test"}
    assert {i.dataset.digest for i in datasets.values()} == {"a" * 32 + ".dir"}
    assert [(t.key, t.value) for t in datasets["en-de/dev"].tags] == [
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
    assert set(attached) == {"samples/test.csv", "scores.json", "training.json", "decoding.json"}
    with attached["samples/test.csv"].open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table))
    assert rows == [
        ["source", "reference", "hypothesis"],
        ["a house", "ein Haus", "ein Haus"],
        ["two\u2028halves, one line", "zwei Hälften", "<script>"],
    ]


def test_a_parser_and_an_untested_run_have_their_own_metrics(
    root: Path, params: config.Config, write_results: Write
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
    test_set = {"corpora": {"demo": {"pairs": 9}}, "pairs": 9, "sha256": {}}
    split = {
        "set": test_set,
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
    dev = {"set": test_set, "bleu": {"value": 24.6, "signature": "of dev"}}
    (root / "scores/en-de.C_N2.json").write_text(
        json.dumps({"run": "en-de.C_N2", "task": "en-de", "model": "C_N2", "splits": {"dev": dev}})
    )
    base = {"mean": 4.5, "sd": 0.5, "outcome": "undecided"}
    effect = {"value": -6.5, "low": -9, "high": -4, "p_value": 0.001, "corrected": 0.02, "count": 5}
    lower = {"mean": 24.6, "effect": effect, "claim": "lower", "outcome": "lower"}
    ter = {"mean": 60.0, "effect": {**effect, "value": 2.5, "corrected": 0.25}}
    seed = {"run": "en-de.C_N2", "perplexity": 4.5, "bleu": 24.6}
    sentences = {"difference": -6.8, "p_value": 0.125}
    comparison = {
        "task": "en-de", "base": "brief", "split": "dev+test", "signature": "s", "modes": {}, "findings": {},
        "test_set": {"corpora": {}, "pairs": 9, "sha256": {}},
        "models": {
            "brief": {"perplexity": base, "bleu": base, "seeds": {"1": {**seed, "run": "en-de.brief"}}},
            "C_N2": {
                "perplexity": base, "bleu": lower, "further": {"ter": ter},
                "seeds": {"1": {**seed, "sentences": sentences}},
            },
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
    sync(params, root)

    (parser,) = runs_of(root, "tags.task = 'parsing'")
    found = {name: parser.data.metrics[f"test/{name}"] for name in measures}
    assert found == measures
    assert "row" not in parser.data.tags

    (variation,) = runs_of(root, "tags.row = 'C_N2'")
    names = (
        "dev/bleu",
        "table_3/bleu_difference",
        "table_3/bleu_difference_p",
        "table_3/bleu_sentences_p",
        "table_3/ter_difference",
        "table_3/ter_difference_p",
        "work/parameters",
        "work/pair_flops_training",
    )
    expected = [24.6, -6.5, 0.02, 0.125, 2.5, 0.25, 1234, 30]
    assert [variation.data.metrics[name] for name in names] == expected
    assert not [name for name in variation.data.metrics if name.startswith("test/")]
    tags = variation.data.tags
    assert (tags["group"], tags["tested"]) == ("C", "false")
    assert (tags["bleu_vs_base"], tags["perplexity_vs_base"]) == ("as in the paper", "undecided")


def test_seeds_of_a_model_have_a_common_parent_run(
    root: Path, params: config.Config, write_results: Write
) -> None:
    bleu = {"en-de.base": 33.0, "en-de.base-s2": 30.0, "en-de.base-s3": 30.0}
    for n, (run, value) in enumerate(bleu.items()):
        write_results(run)
        file = root / f"scores/{run}.json"
        scores = json.loads(file.read_text())
        scores["splits"]["dev"]["bleu"]["value"] = value
        if run == "en-de.base-s3":
            del scores["splits"]["test"]
        file.write_text(json.dumps(scores))
        metadata = root / f"run_metadata/{run}.train.json"
        metadata.write_text(metadata.read_text().replace("f1f1", f"f{n}f1"))
    write_results("en-de.C_N2")
    for _ in range(2):  # the second changes nothing
        assert sync(params, root).runs == 4
        (parent,) = runs_of(root, "tags.stage = 'seeds'")
        assert parent.info.run_name == "en-de.base over seeds"
        assert parent.data.params["seed"] == "1, 2, 3"
        assert parent.data.tags["row"] == "base"
        assert parent.data.metrics == {
            "work/seeds": 3, "dev/bleu": 31.0, "dev/bleu_sd": 1.7321,
            "dev/perplexity": 61.8678, "dev/perplexity_sd": 0,
        }  # fmt: skip
        children = runs_of(root, f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'")
        assert {child.info.run_name for child in children} == {*bleu}


def test_scores_come_first_by_name(root: Path, params: config.Config, write_results: Write) -> None:
    """The UI orders groups of metrics by name; a comparison of runs begins with the first metric."""
    write_results("en-de.base")
    sync(params, root)
    (run,) = runs_of(root)
    groups = dict.fromkeys(name.split("/")[0] for name in sorted(run.data.metrics))
    assert list(groups) == ["dev", "test", "train", "work"]
    assert next(iter(run.data.metrics)) == "test/bleu"
