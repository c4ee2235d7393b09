"""Whether a number of ours reproduces one of the paper's, and when that may be asked at all.

A verdict needs like beside like: the paper's evaluation set, and the paper's whole recipe. A score
on other sentences was not run at this scale, whatever it is; one on the paper's sentences by
another recipe is not the paper's recipe. Every departure is named (report/departures.py).

Two figures measured the paper's way count as equal up to a tolerance. Late checkpoints of one
training differ by about 0.3 BLEU (as NVIDIA's DeepLearningExamples report), so less than
TOLERANCE_BLEU would ask for luck. A protocol mistaken for another moves a score by about as much:
compounds that are not split by 0.7 or more (fairseq's big EN-DE: 29.3 with, 28.6 by sacreBLEU), a
reference with typographic quotes by 0.5 (docs/deviations.md). So more would accept a score by the
wrong protocol. The bootstrap interval is shown but does not decide: it says how far the score would
move on other sentences, and the paper's sentences are the same as ours. TOLERANCE_PERPLEXITY asks
of a perplexity what TOLERANCE_BLEU asks of BLEU: over the paper's base and rows (C), 0.12 nats a
piece go with 1 BLEU, so half a BLEU with 6 % of a perplexity.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

TOLERANCE_BLEU = 0.5
TOLERANCE_F1 = 0.5
TOLERANCE_PERPLEXITY = 0.05  # of the printed value


class Verdict(Enum):
    """What can be said of a cell.

    What holds by construction could not have come out otherwise, and is no evidence.
    """

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    OTHER_RECIPE = "not the paper's recipe"
    NOT_RUN = "not run at this scale"
    BY_CONSTRUCTION = "holds by construction"


@dataclass(frozen=True)
class Judgement:
    """A verdict; `difference` is ours minus the paper's, absent where nothing could be judged.

    `reasons` say in a few words each why the cell could not be judged.
    """

    verdict: Verdict
    difference: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether ours was compared with the paper's."""
        return self.difference is not None


def judge(
    paper: float,
    ours: float | None,
    *,
    other_set: tuple[str, ...] = (),
    departures: tuple[str, ...] = (),
    tolerance: float,
) -> Judgement:
    """Compare two figures.

    Args:
        paper: the printed value.
        ours: by the paper's protocol, None where there is no such score.
        other_set: how the sentences of ours differ from the paper's.
        departures: how our run differs from the paper's recipe.
        tolerance: the largest difference that counts as none.
    """
    if ours is None or other_set:
        return Judgement(Verdict.NOT_RUN, reasons=(*other_set, *departures) or ("no score yet",))
    if departures:
        return Judgement(Verdict.OTHER_RECIPE, reasons=departures)
    # two decimals are what scores are kept with; without rounding, 27.8 - 27.3 exceeds 0.5
    difference = round(ours - paper, 2)
    within = abs(difference) <= round(tolerance, 2)
    return Judgement(Verdict.REPRODUCED if within else Verdict.DIFFERS, difference)
