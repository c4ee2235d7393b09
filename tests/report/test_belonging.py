"""A file that was left by other parameters is refused, whatever its name says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.errors import AiaynError, DataError, ProfileError, ScoreError
from aiayn.report.belonging import (
    check_comparison,
    check_history,
    check_manifest,
    check_models,
    check_scores,
)
from aiayn.results.comparison import Comparison, Measure, Seed, Variation
from aiayn.results.history import History, Line
from aiayn.results.profiles import ModelCost, ModelsProfile, PairFlops, Sides
from aiayn.results.scores import RunScores, SplitScores, TestSet
from aiayn.results.text import Manifest

RUN = "en-de.base"
Load = Callable[[dict[str, Any]], Config]
Manifests = dict[str, Manifest]


@pytest.fixture
def parameters(load: Load, wmt14: dict[str, Any]) -> Config:
    return load(wmt14)


@pytest.fixture
def scores(manifests: Manifests) -> RunScores:
    test = TestSet.of(manifests["en-de"].splits["test"])
    scored = SplitScores.of(test_set=test, scores={})
    return RunScores(run=RUN, task="en-de", model="base", splits={"test": scored})


def refused(error: type[AiaynError], check: Callable[[], None]) -> str:
    with pytest.raises(error) as caught:
        check()
    said = str(caught.value)
    assert "belongs to other parameters" in said
    assert "\n" not in said
    return said


def test_what_belongs_is_accepted(
    parameters: Config, manifests: Manifests, scores: RunScores
) -> None:
    check_scores(parameters, RUN, scores, manifests)
    check_scores(parameters, RUN, scores, {})
    for task, manifest in manifests.items():
        check_manifest(parameters, task, manifest)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run": "en-de.big"}, "run en-de.big, but en-de.base"),
        ({"task": "en-fr"}, "task en-fr, but en-de"),
        ({"model": "brief"}, "model brief, but base"),
    ],
)
def test_another_runs_scores(
    parameters: Config, scores: RunScores, manifests: Manifests, change: dict[str, str], said: str
) -> None:
    other = scores.replace(**change)
    complaint = refused(ScoreError, lambda: check_scores(parameters, RUN, other, manifests))
    assert said in complaint
    assert complaint.startswith("scores/en-de.base.json: ")
    assert complaint.endswith("dvc repro score@en-de.base.")


def test_scores_of_another_scale(
    parameters: Config, scores: RunScores, manifests: Manifests
) -> None:
    """Both scales have a run en-de.base of a task en-de and a model base."""
    test = scores.splits["test"]
    demo = test.test_set.replace(corpora={"demo-test": test.test_set.corpora["newstest2014-de-en"]})
    other = scores.replace(splits={"test": test.replace(test_set=demo)})
    complaint = refused(ScoreError, lambda: check_scores(parameters, RUN, other, {}))
    assert "corpora of test demo-test, but newstest2014-de-en" in complaint


def test_scores_of_other_sentences_under_the_same_names(
    parameters: Config, scores: RunScores, manifests: Manifests
) -> None:
    test = scores.splits["test"]
    digests = dict(test.test_set.sha256) | {"target": "0" * 64}
    other = scores.replace(
        splits={"test": test.replace(test_set=test.test_set.replace(sha256=digests))}
    )
    complaint = refused(ScoreError, lambda: check_scores(parameters, RUN, other, manifests))
    assert "test is not the text of data/text/en-de" in complaint


def test_a_curve_of_another_length(parameters: Config) -> None:
    def curve(steps: int) -> History:
        line = Line(step=steps, epoch=1.0, tokens=9, learning_rate=1e-3, loss=2.0)
        return History((line,))

    check_history(parameters, RUN, curve(100_000))
    complaint = refused(DataError, lambda: check_history(parameters, RUN, curve(300)))
    assert complaint.startswith("history/en-de.base.csv: ")
    assert "last step 300, but 100000" in complaint
    refused(DataError, lambda: check_history(parameters, RUN, History(())))


def test_text_of_other_corpora(parameters: Config, manifests: Manifests) -> None:
    french = manifests["en-fr"].replace(task="en-de")
    complaint = refused(DataError, lambda: check_manifest(parameters, "en-de", french))
    assert complaint.startswith("data/text/en-de/manifest.json: ")
    refused(DataError, lambda: check_manifest(parameters, "en-de", manifests["en-fr"]))


def test_a_comparison_of_other_runs(parameters: Config, manifests: Manifests) -> None:
    def comparison(**change: Any) -> Comparison:
        measure = Measure(mean=1.0)
        seed = Seed(run=change.pop("run", RUN), perplexity=5.0, bleu=25.0)
        row = Variation(perplexity=measure, bleu=measure, seeds={"1": seed})
        test_set = TestSet.of(manifests["en-de"].splits["dev"])
        given: dict[str, Any] = {
            "task": "en-de", "base": "base", "split": "dev", "test_set": test_set,
            "signature": "hand-made", "models": {change.pop("model", "base"): row}, "ways": {}, "findings": {},
        }  # fmt: skip
        return Comparison(**(given | change))

    check_comparison(parameters, comparison(), manifests)
    for change, said in (
        ({"task": "en-fr"}, "task en-fr, but en-de"),
        ({"base": "brief"}, "base brief, but base"),
        ({"model": "C_N2"}, "params.yaml has no model C_N2"),
        ({"run": "en-de.brief"}, "params.yaml has no run en-de.brief"),
    ):
        found = comparison(**change)
        complaint = refused(ScoreError, lambda: check_comparison(parameters, found, manifests))  # noqa: B023
        assert said in complaint
        assert complaint.startswith("comparisons/table_3.json: ")


def test_models_counted_over_another_vocabulary(parameters: Config) -> None:
    def profile(model: str, vocabulary: int) -> ModelsProfile:
        sides = Sides(source=1, target=1)
        cost = ModelCost(
            vocabulary=vocabulary, parameters=1, forward_flops=sides, training_flops=sides,
            pair_flops=PairFlops(forward=1, training=3),
        )  # fmt: skip
        return ModelsProfile(sentence_pieces=30, models={model: {"en-de": cost}}, paper={})

    check_models(parameters, profile("base", 37_000))
    complaint = refused(ProfileError, lambda: check_models(parameters, profile("base", 1000)))
    assert "vocabulary of base for en-de 1000, but 37000" in complaint
    complaint = refused(ProfileError, lambda: check_models(parameters, profile("tiny", 37_000)))
    assert "params.yaml has no model tiny" in complaint
