"""Every departure of a run, beside what it is known or was measured to cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aiayn import config
from aiayn.report.evidence import Evidence
from aiayn.report.why_not import NOT_KNOWN, NOT_MEASURED, SENTENCES, lines_of, section
from aiayn.results.comparison import Comparison, DecodingModes, Effect, Measure, Seed, Variation
from aiayn.results.scores import Score, SplitScores, TestSet
from aiayn.results.text import Manifest, Part

Make = Callable[..., Evidence]
Load = Callable[[dict[str, Any]], config.Config]
SEED = "trained from one seed"


def found(run: str, evidence: Evidence) -> dict[str, tuple[str, str]]:
    return {line.said: (line.known, line.measured) for line in lines_of(run, evidence)}


def test_the_papers_own_run_has_its_seed_alone(
    evidence: Make, load: Load, wmt14: dict[str, Any], manifests: Mapping[str, Manifest]
) -> None:
    held = evidence(config=load(wmt14), manifests=manifests)
    assert list(found("en-de.base", held)) == [SEED]
    assert not found("en-fr.big", held)


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
    known, measured = lines["N is 4, not 6 (table 3)"]
    assert known.endswith("N 2 −2.1; N 4 −0.5; N 8 −0.3")
    assert measured == NOT_MEASURED
    assert lines["steps is 50000, not 100K (table 3)"] == (NOT_KNOWN, NOT_MEASURED)


def test_other_sentences_have_no_cost(evidence: Make, load: Load, toy: dict[str, Any]) -> None:
    test_set = TestSet(corpora={"toy-test": Part(pairs=9)}, pairs=9, sha256={})
    scores = {"bleu": Score(value=20.0, signature="s")}
    splits = {"test": SplitScores.of(test_set=test_set, scores=scores)}
    lines = found("en-de.base", evidence(config=load(toy), scores={"en-de.base": splits}))
    assert lines["scored on toy-test, not on newstest2014-de-en"] == (SENTENCES, NOT_MEASURED)


def test_what_was_measured_here_stands_beside_it(
    evidence: Make, load: Load, wmt14: dict[str, Any], manifests: Mapping[str, Manifest]
) -> None:
    base = wmt14["models"]["base"]
    base |= {"N": 4, "average": 3}
    wmt14["models"]["C_N2"] = {**base, "N": 2, "average": 1}
    wmt14["models"]["both"] = {**base, "N": 2, "P_drop": 0.2}
    for model in ("C_N2", "both"):
        wmt14["runs"][f"en-de.{model}"] = {"task": "en-de", "model": model, "seed": 1}
    effect = Effect(value=-1.25, low=-2.0, high=-0.5, p_value=0.01, corrected=0.02, count=5)
    comparison = Comparison(
        task="en-de", base="base", split="dev", signature="s", findings={},
        test_set=TestSet(corpora={}, pairs=1, sha256={}),
        models={
            "base": _variation("base", None, sd=0.5),
            "C_N2": _variation("C_N2", effect),
            "both": _variation("both", effect),
        },
        modes={"en-de.base": DecodingModes(last=20.0, averaged=20.75, greedy=19.5)},
    )  # fmt: skip
    held = evidence(config=load(wmt14), manifests=manifests, variations=comparison)
    lines = found("en-de.base", held)
    assert lines["N is 4, not 6 (table 3)"][1] == "N 2 instead of 4: −1.25 (−2.00 to −0.50)"
    assert lines["average is 3, not 5 (section 6.1)"][1] == "averaging 3 in en-de.base: +0.75"
    assert lines[SEED][1] == "standard deviation 0.50 BLEU over 1 seeds of the base"
    records = section(held).records
    assert set(records["run"]) > {"en-de.base", "en-de.C_N2", "en-de.both"}


def _variation(model: str, effect: Effect | None, sd: float | None = None) -> Variation:
    measure = Measure(mean=20.0, sd=sd, effect=effect)
    seed = Seed(run=f"en-de.{model}", perplexity=5.0, bleu=20.0)
    return Variation(perplexity=measure, bleu=measure, seeds={"1": seed})


def test_a_parser_is_held_against_section_6_3(evidence: Make) -> None:
    parsing = config.load()
    lines = found("parsing.parser", evidence(config=parsing))
    assert any(said.endswith("(section 6.3)") for said in lines)
    assert SEED not in lines
