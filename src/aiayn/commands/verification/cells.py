"""Figures of a published reproduction beside the ones here, and what may be said of each pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results import history, places, profiles, scores
from aiayn.results.json_files import if_there
from aiayn.results.lock import Lock
from aiayn.results.scores import RunScores, Score, SplitScores


class NoReproductionError(DataError):
    """A folder that should be a reproduction holds nothing that could be compared."""


class Verdict(StrEnum):
    """What a figure here is, beside the published one."""

    SAME = "same"
    INSIDE = "inside"  # of the published 95 % interval over sentences
    OUTSIDE = "outside"
    MOVED = "moved"  # another figure, of which no interval was published
    MISSING = "missing"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A published figure of a run (or of a model), and the same figure here.

    `low` and `high` bound the published interval, where there is one. `why` says what keeps two
    figures from being compared.
    """

    of: str
    name: str
    published: float
    here: float | None
    verdict: Verdict
    low: float | None = None
    high: float | None = None
    why: str = ""


def cells(published: Path, here: Path) -> tuple[Cell, ...]:
    """Every figure that a reproduction has of its runs, and of its models' sizes.

    Raises:
        NoReproductionError: the folder has no scores.
        DataError: it holds what is no record.
        ScoreError, ProfileError: a record of either side is not what it should be.
    """
    runs = sorted(path.stem for path in (published / places.SCORES).glob("*.json"))
    if not runs:
        raise NoReproductionError(
            f"{published / places.SCORES}: no scores. Name a folder that make reproduction wrote."
        )
    locks = [Lock(root / places.LOCK) for root in (published, here)]
    of_runs = (_of_run(run, published, here, locks) for run in runs)
    return tuple(cell for part in (*of_runs, _of_models(published, here)) for cell in part)


def _of_run(run: str, published: Path, here: Path, locks: Sequence[Lock]) -> Iterator[Cell]:
    theirs = scores.read(published / places.scores(run))
    ours = if_there(scores.read, here / places.scores(run))
    vocabularies = {lock.out(str(places.vocabulary(theirs.task))) for lock in locks}
    why = ""
    if ours and _sentences(ours) != _sentences(theirs):
        why = "other sentences"
    elif len(vocabularies) > 1:
        why = "another vocabulary"
    yield from _perplexity(run, published, here, why)
    for split, scored in theirs.splits.items():
        held = ours.splits.get(split) if ours else None
        for name, score in scored.scores.items():
            yield _score(run, f"{split} {name}", scored, score, held, name)


def _score(
    run: str, label: str, scored: SplitScores, score: Score, held: SplitScores | None, name: str
) -> Cell:
    found = held.scores.get(name) if held else None
    here = found.value if found else None
    why = ""
    if held is None or found is None:
        verdict = Verdict.MISSING
    elif held.test_set.sha256 != scored.test_set.sha256:
        verdict, why = Verdict.INCOMPARABLE, "other sentences"
    elif found.signature != score.signature:
        verdict = Verdict.INCOMPARABLE
        why = f"other protocol: {found.signature}, published {score.signature}"
    elif found.value == score.value:
        verdict = Verdict.SAME
    elif score.low is None or score.high is None:
        verdict = Verdict.MOVED
    else:
        is_inside = score.low <= found.value <= score.high
        verdict = Verdict.INSIDE if is_inside else Verdict.OUTSIDE
    return Cell(
        of=run, name=label, published=score.value, here=here, verdict=verdict, low=score.low,
        high=score.high, why=why,
    )  # fmt: skip


def _sentences(held: RunScores) -> Mapping[str, str]:
    """Digests of the dev set."""
    return held.splits[places.DEV].test_set.sha256 if places.DEV in held.splits else {}


def _perplexity(run: str, published: Path, here: Path, why: str) -> Iterator[Cell]:
    """After the last step, per piece: another vocabulary makes it another measure."""
    theirs = if_there(history.read, published / places.history(run))
    ours = if_there(history.read, here / places.history(run))
    if theirs is None or not theirs.dev_perplexity:
        return
    last = theirs.dev_perplexity[-1]
    found = ours.dev_perplexity[-1] if ours and ours.dev_perplexity else None
    if found is None:
        verdict = Verdict.MISSING
    elif why:
        verdict = Verdict.INCOMPARABLE
    else:
        verdict = Verdict.SAME if found == last else Verdict.MOVED
    yield Cell(
        of=run, name="dev perplexity", published=last, here=found, verdict=verdict,
        why=why if found else "",
    )  # fmt: skip


def _of_models(published: Path, here: Path) -> Iterator[Cell]:
    """Sizes are counted, not measured: another one, of as large a vocabulary, is another model."""
    theirs = if_there(profiles.read_models, published / places.MODELS_PROFILE)
    ours = if_there(profiles.read_models, here / places.MODELS_PROFILE)
    for model, by_task in (theirs.models if theirs else {}).items():
        for task, cost in by_task.items():
            held = ours.models.get(model, {}).get(task) if ours else None
            verdict, why = Verdict.MISSING, ""
            if held and held.vocabulary != cost.vocabulary:
                verdict, why = Verdict.INCOMPARABLE, "another vocabulary"
            elif held:
                is_same = held.parameters == cost.parameters
                verdict = Verdict.SAME if is_same else Verdict.OUTSIDE
            yield Cell(
                of=f"{task}.{model}", name="parameters", published=cost.parameters,
                here=held.parameters if held else None, verdict=verdict, why=why,
            )  # fmt: skip
