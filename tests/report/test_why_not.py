"""Every departure of a run, with its known cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aiayn import config
from aiayn.report.evidence import Evidence
from aiayn.report.why_not import NOT_KNOWN, SENTENCES, lines_of
from aiayn.results.scores import Score, SplitScores, TestSet
from aiayn.results.text import Manifest, Part

Make = Callable[..., Evidence]
Load = Callable[[dict[str, Any]], config.Config]
SEED = "trained from one seed"


def found(run: str, evidence: Evidence) -> dict[str, str]:
    return {line.description: line.known for line in lines_of(run, evidence)}


def test_the_papers_own_run_departs_only_in_its_seed(
    evidence: Make, load: Load, wmt14: dict[str, Any], manifests: Mapping[str, Manifest]
) -> None:
    run_evidence = evidence(config=load(wmt14), manifests=manifests)
    assert list(found("en-de.base", run_evidence)) == [SEED]
    assert not found("en-fr.big", run_evidence)


def test_each_departure_is_a_row(
    evidence: Make, load: Load, wmt14: dict[str, Any], manifests: Mapping[str, Manifest]
) -> None:
    wmt14["models"]["base"] |= {"N": 4, "steps": 50000}
    wmt14["training"]["batch_tokens"] = 4096
    lines = found("en-de.base", evidence(config=load(wmt14), manifests=manifests))
    assert list(lines) == [
        "N is 4, not 6 (table 3)", "steps is 50000, not 100K (table 3)",
        "batch_tokens is 4096, not about 25000 (section 5.1)", SEED,
    ]  # fmt: skip
    assert lines["N is 4, not 6 (table 3)"].endswith("N 2 −2.1; N 4 −0.5; N 8 −0.3")
    assert lines["steps is 50000, not 100K (table 3)"] == NOT_KNOWN


def test_other_sentences_have_no_cost(evidence: Make, load: Load, toy: dict[str, Any]) -> None:
    test_set = TestSet(corpora={"toy-test": Part(pairs=9)}, pairs=9, sha256={})
    scores = {"bleu": Score(value=20.0, signature="s")}
    splits = {"test": SplitScores.of(test_set=test_set, scores=scores)}
    lines = found("en-de.base", evidence(config=load(toy), scores={"en-de.base": splits}))
    assert lines["scored on toy-test, not on newstest2014-de-en"] == SENTENCES


def test_a_parser_is_compared_with_section_6_3(evidence: Make) -> None:
    parsing = config.load()
    lines = found("parsing.parser", evidence(config=parsing))
    assert any(departure.endswith("(section 6.3)") for departure in lines)
    assert SEED not in lines
