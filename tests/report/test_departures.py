"""The paper's recipe, and each way of departing from it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from dvc.utils.hydra import compose_and_dump

from aiayn import config
from aiayn.config import Config, Model
from aiayn.paper import PAPER, EvaluationSet, Recipe, recipe_of
from aiayn.report.departures import (
    Departure,
    departures,
    parameter_departures,
    set_departures,
)
from aiayn.results.scores import TestSet
from aiayn.results.text import Manifest, Part
from aiayn.validation import StrictModel

CONF = Path(__file__).parents[2] / "conf"
RUN = "en-de.base"
RECIPE = PAPER.table_2["base"].recipes["en-de"]
NEWSTEST = EvaluationSet(("newstest2014-de-en",), 3003)

Load = Callable[[dict[str, Any]], Config]
Manifests = dict[str, Manifest]


def changed(data: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The parameters with another value at a path of keys."""
    copied: dict[str, Any] = copy.deepcopy(dict(data))
    parent = copied
    *keys, last = path.split("/")
    for key in keys:
        parent = parent[key]
    parent[last] = value
    return copied


def texts(recipe: Recipe, config: Config, run: str, manifest: Manifest | None) -> list[str]:
    return [departure.text for departure in departures(recipe, config, run, manifest)]


def test_the_papers_recipe_has_no_departures(
    load: Load, wmt14: dict[str, Any], manifests: Manifests
) -> None:
    parameters = load(wmt14)
    for row in ("base", "big"):
        for pair in PAPER.table_2_columns:
            recipe = PAPER.table_2[row].recipes[pair]
            run = f"{pair}.{row}"
            assert not texts(recipe, parameters, run, manifests[pair])


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("training/batch_tokens", 2048, "batch_tokens is 2048, not about 25000 (section 5.1)"),
        ("training/warmup_steps", 50, "warmup_steps is 50, not 4000 (section 5.3)"),
        ("training/learning_rate_scale", 2.0, "learning_rate_scale is 2.0, not 1.0 (section 5.3)"),
        ("training/adam/beta1", 0.8, "beta1 is 0.8, not 0.9 (section 5.3)"),
        ("training/adam/beta2", 0.997, "beta2 is 0.997, not 0.98 (section 5.3)"),
        ("training/adam/epsilon", 1e-8, "epsilon is 1e-08, not 1e-9 (section 5.3)"),
        ("training/max_length", 128, "max_length is 128, not 256 (the authors' code; the paper is silent)"),
        ("models/base/N", 2, "N is 2, not 6 (table 3)"),
        ("models/base/d_model", 256, "d_model is 256, not 512 (table 3)"),
        ("models/base/d_ff", 1024, "d_ff is 1024, not 2048 (table 3)"),
        ("models/base/h", 4, "h is 4, not 8 (table 3)"),
        ("models/base/d_k", 32, "d_k is 32, not 64 (table 3)"),
        ("models/base/d_v", 32, "d_v is 32, not 64 (table 3)"),
        ("models/base/P_drop", 0.3, "P_drop is 0.3, not 0.1 (table 3)"),
        ("models/base/eps_ls", 0.0, "eps_ls is 0.0, not 0.1 (table 3)"),
        ("models/base/steps", 99_999, "steps is 99999, not 100K (table 3)"),
        ("models/base/positions", "learned", "positions is learned, not sinusoid (table 3)"),
        ("models/base/average", 1, "average is 1, not 5 (section 6.1)"),
        (
            "models/base/checkpoint_steps",
            100,
            "checkpoint_steps is 100, not about 1500 (section 6.1: 10 minutes; section 5.2: 0.4 s a step)",
        ),
        ("tasks/en-de/decoding/beam", 1, "beam is 1, not 4 (section 6.1)"),
        ("tasks/en-de/decoding/alpha", 3.0, "alpha is 3.0, not 0.6 (section 6.1)"),
        ("tasks/en-de/decoding/extra_length", 100, "extra_length is 100, not 50 (section 6.1)"),
        ("tasks/en-de/decoding/stop", "beam", "stop is beam, not bound (the authors' code; the paper is silent)"),
        ("tasks/en-de/bpe/vocabulary", 500, "vocabulary is 500, not about 37000 (section 5.1)"),
    ],
)  # fmt: skip
def test_every_parameter_of_the_recipe_counts(
    load: Load, wmt14: dict[str, Any], manifests: Manifests, path: str, value: Any, expected: str
) -> None:
    # what h implies is spelled out, so that one change is one departure
    explicit = changed(changed(wmt14, "models/base/d_k", 64), "models/base/d_v", 64)
    parameters = load(changed(explicit, path, value))
    assert texts(RECIPE, parameters, RUN, manifests["en-de"]) == [expected]


def fields(section: StrictModel, name: str) -> Iterator[tuple[str, StrictModel, str]]:
    """Every parameter: its dotted name, the record that has it, and its name there."""
    for key, value in section:
        if isinstance(value, StrictModel):
            yield from fields(value, f"{name}.{key}")
        else:
            yield f"{name}.{key}", section, key


@pytest.mark.parametrize(
    ("name", "recipe", "run"),
    [
        ("wmt14", RECIPE, RUN),
        ("wmt14_table3", recipe_of("base"), RUN),
        ("wsj", PAPER.table_4["transformer_wsj"].recipe, "parsing.parser"),
    ],
)
def test_every_field_counts_unless_it_is_named_as_unstated(
    name: str, recipe: Recipe, run: str
) -> None:
    scale = composed(name)
    task = scale.task_of(run)
    sections: dict[str, StrictModel] = {
        "model": scale.model_of(run), "training": scale.training, "decoding": task.search,
        "bpe": task.bpe,
    }  # fmt: skip
    seen = set()
    for section, record in sections.items():
        for path, owner, key in fields(record, section):
            altered = owner.model_copy(update={key: "another"})
            change = altered if owner is record else record.model_copy(update={"adam": altered})
            found = [
                entry.key for entry in parameter_departures(recipe, {**sections, section: change})
            ]
            assert found == ([] if path in recipe.unstated else [path])
            seen.add(path)
    assert recipe.unstated | recipe.parameters.keys() <= seen


def test_an_extension_counts_even_one_added_later() -> None:
    class ExtendedModel(Model):
        gates: int = 0

    scale = composed("wmt14")
    task, base = scale.task_of(RUN), scale.model_of(RUN)
    others = {"training": scale.training, "decoding": task.search, "bpe": task.bpe}
    for field, text in (("gates", "gates is 8"), ("neighbourhood", "neighbourhood is 8")):
        model = ExtendedModel.model_validate({**dict(base), field: 8})
        (departure,) = parameter_departures(RECIPE, {"model": model, **others})
        assert departure == Departure(f"model.{field}", f"{text}, which the paper does not have")


def test_text_in_another_form_is_a_departure(
    load: Load, wmt14: dict[str, Any], manifests: Manifests
) -> None:
    lowered = manifests["en-de"].replace(form="lowercased_tokens")
    (text,) = texts(RECIPE, load(wmt14), RUN, lowered)
    assert text == "its text has the form lowercased_tokens, not that of the corpora"


def test_every_requirement_is_tested() -> None:
    (mark,) = [
        mark
        for mark in test_every_parameter_of_the_recipe_counts.pytestmark
        if mark.name == "parametrize"
    ]
    tested = {path.partition("/")[2].replace("/", ".") for path, _, _ in mark.args[1]}
    tested = {name.removeprefix("base.").removeprefix("en-de.") for name in tested}
    required = {name.partition(".")[2] for name in RECIPE.parameters}
    assert {name.rpartition(".")[2] for name in tested} == {n.rpartition(".")[2] for n in required}


def test_the_run_that_was_once_called_reproduced(
    load: Load, wmt14: dict[str, Any], manifests: Manifests
) -> None:
    """Batches of 2,048, warm-up 50, beam 1, alpha 3 and 500 pieces; all else the paper's."""
    wmt14["training"] |= {"batch_tokens": 2048, "warmup_steps": 50}
    wmt14["tasks"]["en-de"] |= {"decoding": {"beam": 1, "alpha": 3.0, "extra_length": 50}}
    wmt14["tasks"]["en-de"]["bpe"]["vocabulary"] = 500
    reasons = texts(RECIPE, load(wmt14), RUN, manifests["en-de"])
    assert [reason.partition(" ")[0] for reason in reasons] == [
        "batch_tokens", "warmup_steps", "beam", "alpha", "vocabulary",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("training/batch_tokens", 25_088),  # a multiple of 8 x 64
        ("tasks/en-de/bpe/vocabulary", 36_864),  # of 1,024
        ("models/base/checkpoint_steps", 1389),  # 10 minutes of the 12 hours of 100,000 steps
    ],
)
def test_a_value_that_rounds_to_the_papers_is_no_departure(
    load: Load, wmt14: dict[str, Any], manifests: Manifests, path: str, value: int
) -> None:
    parameters = load(changed(wmt14, path, value))
    assert not texts(RECIPE, parameters, RUN, manifests["en-de"])


def test_the_number_of_micro_batches_is_no_departure(
    load: Load, wmt14: dict[str, Any], manifests: Manifests
) -> None:
    parameters = load(changed(wmt14, "training/micro_batches", 1))
    assert not texts(RECIPE, parameters, RUN, manifests["en-de"])


class TestTrainingText:
    """Recognized by content: a catalogue may give any text the name of a WMT corpus."""

    @pytest.fixture
    def parameters(self, load: Load, wmt14: dict[str, Any]) -> Config:
        return load(wmt14)

    def test_a_corpus_of_another_size_is_not_the_papers(
        self, parameters: Config, manifests: Manifests
    ) -> None:
        manifest = manifests["en-de"]
        train = manifest.splits["train"]
        corpora = dict(train.corpora) | {"europarl-v7-de-en": Part(pairs=900, kept=900, dropped={})}
        splits = dict(manifest.splits) | {"train": train.replace(corpora=corpora, pairs=2_600_000)}
        found = texts(RECIPE, parameters, RUN, manifest.replace(splits=splits))
        assert found == [
            "no training corpus has the 1,920,209 pairs of Europarl v7",
            "also trained on europarl-v7-de-en (900 pairs)",
            "trained on 2,600,000 pairs, not on about 4.5M (section 5.1)",
        ]

    def test_other_names_of_the_same_text_are_no_departure(
        self, parameters: Config, manifests: Manifests
    ) -> None:
        manifest = manifests["en-de"]
        train = manifest.splits["train"]
        corpora = {f"corpus-{n}": part for n, part in enumerate(train.corpora.values())}
        splits = dict(manifest.splits) | {"train": train.replace(corpora=corpora)}
        renamed = manifest.replace(splits=splits)
        assert not texts(RECIPE, parameters, RUN, renamed)

    def test_a_count_without_empty_lines_is_no_departure(
        self, parameters: Config, manifests: Manifests
    ) -> None:
        """Hugging Face's 4,508,785 against the task page's 4,520,620: 0.26 %."""
        manifest = manifests["en-de"]
        train = manifest.splits["train"]
        corpora = {
            name: part.replace(pairs=round(part.pairs * 4_508_785 / 4_520_620))
            for name, part in train.corpora.items()
        }
        splits = dict(manifest.splits) | {"train": train.replace(corpora=corpora)}
        counted = manifest.replace(splits=splits)
        assert not texts(RECIPE, parameters, RUN, counted)

    @pytest.mark.parametrize(
        ("download", "expected"),
        [
            ("commoncrawl", "Common Crawl is not from the published file (sha256:c7a74e2e...)"),
            ("newstest2014", "newstest2014 is not from the published file (md5:a8cd784e...)"),
        ],
    )
    def test_another_file_under_the_same_name_is_a_departure(
        self, parameters: Config, manifests: Manifests, download: str, expected: str
    ) -> None:
        manifest = manifests["en-de"]
        changed_download = {**manifest.downloads[download], "checksum": "sha256:" + "0" * 64}
        downloads = dict(manifest.downloads) | {download: changed_download}
        changed_manifest = manifest.replace(downloads=downloads)
        assert texts(RECIPE, parameters, RUN, changed_manifest) == [expected]

    def test_text_without_a_manifest_is_unknown(self, parameters: Config) -> None:
        (text,) = texts(RECIPE, parameters, RUN, None)
        assert "no manifest" in text


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (("demo-test", 3003), "scored on demo-test, not on newstest2014-de-en"),
        (("newstest2014-de-en", 2737), "newstest2014-de-en has 2737 pairs here, not 3003"),
    ],
)
def test_other_sentences_are_named(ours: tuple[str, int], expected: str) -> None:
    def scored(corpus: str, pairs: int) -> TestSet:
        return TestSet(corpora={corpus: Part(pairs=pairs)}, pairs=pairs, sha256={})

    assert list(set_departures(NEWSTEST, scored(*ours))) == [expected]
    assert not list(set_departures(NEWSTEST, scored("newstest2014-de-en", 3003)))


@cache
def composed(scale: str) -> Config:
    with TemporaryDirectory() as folder:
        file = Path(folder, "params.yaml")
        compose_and_dump(str(file), str(CONF), None, "config", "", [f"scale={scale}"])
        return config.load(file)


class TestThePapersScales:
    """They request the paper's recipe, whatever text they find."""

    @pytest.mark.parametrize("row", ["base", "big"])
    @pytest.mark.parametrize("pair", ["en-de", "en-fr"])
    def test_table_2(self, row: str, pair: str, manifests: Manifests) -> None:
        recipe, run = PAPER.table_2[row].recipes[pair], f"{pair}.{row}"
        scale = composed("wmt14")
        assert not texts(recipe, scale, run, manifests[pair])
        text = scale.task_of(run).text
        assert (text.tests["test"],) == recipe.evaluation_set.corpora
        declared = {download.checksum for download in scale.catalogue.downloads.values()}
        assert {archive.checksum for archive in recipe.training_text.archives} <= declared

    @pytest.mark.parametrize("row", PAPER.table_3)
    def test_table_3(self, row: str, manifests: Manifests) -> None:
        recipe = recipe_of(row)
        scale, run = composed("wmt14_table3"), f"en-de.{row}"
        assert not texts(recipe, scale, run, manifests["en-de"])
        assert scale.task_of(run).text.dev in recipe.evaluation_set.corpora

    @pytest.mark.parametrize(
        ("row", "name"), [("transformer_wsj", "wsj"), ("transformer_semi", "wsj_semi")]
    )
    def test_table_4(self, row: str, name: str) -> None:
        printed = PAPER.table_4[row]
        assert printed.recipe is not None
        assert printed.run is not None
        scale = composed(name)
        task = scale.task_of(printed.run)
        sections = {
            "model": scale.model_of(printed.run), "training": scale.training,
            "decoding": task.search, "bpe": task.bpe,
        }  # fmt: skip
        assert not list(parameter_departures(printed.recipe, sections))
