"""The paper's statements, a separate family of tests, over our models and their decoding modes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean

from aiayn.config import Run
from aiayn.evaluation.contrasts import (
    DECIMALS,
    Question,
    Samples,
    between_models,
    decided,
    different,
)
from aiayn.evaluation.references import read_hypotheses, read_references
from aiayn.evaluation.significance import paired
from aiayn.evaluation.translation_metrics import text_bleu
from aiayn.paper.findings import STATEMENTS, Statement
from aiayn.results import paths
from aiayn.results.comparison import DecodingModes, Finding, Verdict
from aiayn.results.seeds import by_seed


def bleu_by_mode(runs: Mapping[str, Run], root: Path = Path()) -> dict[str, DecodingModes]:
    """BLEU of dev by decoding mode, of every run that has left the hypotheses of all modes.

    Raises:
        DataError, ScoreError: references or hypotheses are missing or damaged.
    """
    found: dict[str, DecodingModes] = {}
    for name, run in runs.items():
        folder = root / paths.outputs(name)
        files = {mode: paths.dev_hypotheses(folder, mode) for mode in paths.DECODING_MODES}
        if not all(path.exists() for path in files.values()):
            continue
        references = read_references(root / paths.text(run.task), paths.DEV)
        metric = text_bleu(references.form)
        bleu = {}
        for mode, path in files.items():
            hypotheses = read_hypotheses(path, references)
            score = metric.corpus_score(hypotheses, [references.sentences]).score
            bleu[mode] = round(score, DECIMALS)
        found[name] = DecodingModes(**bleu)
    return found


def over_seeds(
    runs: Mapping[str, Run], modes: Mapping[str, DecodingModes]
) -> list[list[DecodingModes]]:
    """Of each model of a task, that of its runs by seed."""
    groups = by_seed({name: runs[name] for name in modes}).values()
    return [[modes[name] for name in names.values()] for names in groups]


def judge_findings(
    samples: Mapping[str, Samples],
    base: str,
    modes: Sequence[Sequence[DecodingModes]],
    looks: int | None = None,
) -> dict[str, Finding]:
    """Every statement: whether it holds here.

    Args:
        samples: "bleu" and "perplexity" over the seeds, by model.
        base: which of the models corresponds to the paper's base.
        modes: as of `over_seeds`; each run is compared with itself.
        looks: as of config.Variations.
    """
    tests = [
        test
        for key, statement in STATEMENTS.items()
        for test in _tests(key, statement, samples, base, modes)
    ]
    found = decided(tests, looks)
    findings: dict[str, Finding] = {}
    for key, statement in STATEMENTS.items():
        effect, outcome = found.get((statement.measure, key), (None, "undecided"))
        verdict: Verdict = "not run at this scale"
        if _is_run(statement, samples, base, modes):
            verdict = "undecided"
            if outcome != "undecided":
                verdict = "holds" if outcome == statement.claim else "does not hold"
        findings[key] = Finding(verdict=verdict, effect=effect)
    return findings


def _tests(
    key: str,
    statement: Statement,
    samples: Mapping[str, Samples],
    base: str,
    modes: Sequence[Sequence[DecodingModes]],
) -> Iterator[Question]:
    if not _is_run(statement, samples, base, modes):
        return
    if statement.over == "models":
        yield from between_models(
            key, statement.measure, _ours(statement, base), samples[statement.measure], base,
            equality=statement.claim == "equal",
        )  # fmt: skip
    elif found := paired(_gains(statement.rows, modes)):
        yield different(key, statement.measure, found)


def _gains(weights: Mapping[str, float], modes: Sequence[Sequence[DecodingModes]]) -> list[float]:
    """What each model of a task gains, the mean of its seeds: more seeds of one say nothing of the
    others. Where there is one alone, what each of its seeds does.
    """
    gains = [
        [sum(weight * getattr(bleu, mode) for mode, weight in weights.items()) for bleu in seeds]
        for seeds in modes
    ]
    compared = [mean(seeds) for seeds in gains] if len(gains) > 1 else gains[0]
    return [round(gain, DECIMALS) for gain in compared]  # or equal ones would differ by rounding


def _is_run(
    statement: Statement,
    samples: Mapping[str, Samples],
    base: str,
    modes: Sequence[Sequence[DecodingModes]],
) -> bool:
    if statement.over == "modes":
        return bool(modes)
    return _ours(statement, base).keys() <= samples["bleu"].keys()


def _ours(statement: Statement, base: str) -> dict[str, float]:
    """Weights by our models: the paper's base is whichever the table varies."""
    return {base if row == "base" else row: weight for row, weight in statement.rows.items()}
