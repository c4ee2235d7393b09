"""Whether a number of ours reproduces the paper's, and whether the two can be compared at all.

Only like is compared with like: the paper's evaluation set and the paper's whole recipe. A score on
other sentences counts as not run at this scale; one on the paper's sentences by another recipe, as
not the paper's recipe. Every departure is named (report/departures.py).

Comparable figures are equal up to a tolerance. Late checkpoints of one training differ by about 0.3
BLEU (as NVIDIA's DeepLearningExamples report), so with less than TOLERANCE_BLEU a verdict would
depend on luck. A wrong protocol moves a score by about as much: by 0.7 or more if compounds are not
split (fairseq's big EN-DE: 29.3 with, 28.6 by sacreBLEU), by 0.5 for a reference with typographic
quotes (docs/deviations.md). So more would accept a score by the wrong protocol. The bootstrap
interval is shown but does not decide: it covers the choice of sentences, and the paper's sentences
are the same as ours. TOLERANCE_PERPLEXITY is chosen to match: over the paper's base and rows (C),
1 BLEU corresponds to 0.12 nats a piece, so half a BLEU to 6 % of a perplexity.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from aiayn.paper import Printed, Recipe
from aiayn.report.departures import departures, set_departures
from aiayn.report.evidence import Evidence
from aiayn.report.tables import Cell

TOLERANCE_BLEU = 0.5
TOLERANCE_F1 = 0.5
TOLERANCE_PERPLEXITY = 0.05  # of the printed value


class Verdict(Enum):
    """What holds by construction could not have come out otherwise, and is no evidence."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    OTHER_RECIPE = "not the paper's recipe"
    NOT_RUN = "not run at this scale"
    BY_CONSTRUCTION = "holds by construction"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A printed figure or formula beside ours: an entry of the scoreboard.

    `what` names it in a few words, `paper` is as printed. `ours` is there only if the two could be
    judged, `difference` (ours minus the paper's) only of numbers; otherwise `reasons` say in a few
    words each why not. `of_training` marks what a trained model scored: BLEU, perplexity, F1.
    Whether the paper was reproduced depends on these alone.
    """

    what: str
    paper: str
    ours: Cell | None
    verdict: Verdict
    difference: float | None = None
    reasons: tuple[str, ...] = ()
    of_training: bool = False


def compare_with_paper(
    evidence: Evidence,
    what: str,
    printed: Printed,
    ours: float | None,
    cell: Cell,
    *,
    run: str,
    split: str,
    recipe: Recipe,
    tolerance: float,
) -> Entry:
    """What a trained model scored beside the printed figure: the verdict, or why there is none.

    Args:
        ours: the score, and `cell` as tables show it; None where there is none.
        run: whose score it is, on the sentences of `split`.
        tolerance: the largest difference that counts as none.
    """
    scored = evidence.scored(run, split)
    other_set: tuple[str, ...] = ()
    other_recipe: tuple[str, ...] = ()
    if scored:
        manifest = evidence.manifests.get(evidence.config.run(run).task)
        other_set = tuple(set_departures(recipe.evaluation_set, scored.test_set))
        found = departures(recipe, evidence.config, run, manifest)
        other_recipe = tuple(departure.text for departure in found)
    verdict, difference, reasons = judge(
        printed.value,
        ours if scored else None,
        other_set=other_set,
        other_recipe=other_recipe,
        tolerance=tolerance,
    )
    failure = evidence.unfinished.get(run)
    return Entry(
        what=what,
        paper=printed.text,
        ours=None if difference is None else cell,
        verdict=verdict,
        difference=difference,
        reasons=(failure,) if failure else reasons,
        of_training=True,
    )


class Judgement(NamedTuple):
    """As in Entry."""

    verdict: Verdict
    difference: float | None = None
    reasons: tuple[str, ...] = ()


def judge(
    paper: float,
    ours: float | None,
    *,
    other_set: tuple[str, ...] = (),
    other_recipe: tuple[str, ...] = (),
    tolerance: float,
) -> Judgement:
    """Compare two figures.

    Args:
        paper: the printed value.
        ours: by the paper's protocol, None where there is no such score.
        other_set: how the sentences of ours differ from the paper's.
        other_recipe: how our run differs from the paper's recipe.
        tolerance: the largest difference that counts as none.
    """
    if ours is None or other_set:
        return Judgement(Verdict.NOT_RUN, reasons=(*other_set, *other_recipe) or ("no score yet",))
    if other_recipe:
        return Judgement(Verdict.OTHER_RECIPE, reasons=other_recipe)
    # scores have two decimals; without rounding, 27.8 - 27.3 exceeds 0.5
    difference = round(ours - paper, 2)
    within = abs(difference) <= round(tolerance, 2)
    return Judgement(Verdict.REPRODUCED if within else Verdict.DIFFERS, difference)
