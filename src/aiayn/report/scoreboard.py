"""What all entries come to: the answer in one sentence, and how often each verdict was given.

The answer speaks of what trained models scored: BLEU, perplexity and F1. Claims that need no
training are summed up apart, and what holds by construction is not counted: it could not fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aiayn.report.section import Entry
from aiayn.report.verdict import Verdict

MEASURES = "BLEU, perplexity and F1"


def tally(entries: Iterable[Entry]) -> dict[Verdict, int]:
    """How often each verdict was given."""
    verdicts = [entry.verdict for entry in entries]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


def headline(entries: Iterable[Entry]) -> dict[Verdict, int]:
    """The same of trained models' scores, which none has by construction."""
    counts = tally(entry for entry in entries if entry.of_training)
    return {verdict: n for verdict, n in counts.items() if verdict is not Verdict.BY_CONSTRUCTION}


def words(verdict: Verdict, count: int) -> str:
    """A count in words: 12 reproduced, 1 differs, 2 differ, 4 not run."""
    word = verdict.value.removesuffix(" at this scale")
    first, _, rest = word.partition(" ")
    if count != 1 and verdict in (Verdict.DIFFERS, Verdict.BY_CONSTRUCTION):
        word = f"{first.removesuffix('s')} {rest}".strip()
    return f"{count} {word}"


def answer(entries: Iterable[Entry], scale: str) -> str:
    """Was the paper reproduced? Yes is said only where every score was judged and holds."""
    counts = headline(entries)
    total, reproduced = sum(counts.values()), counts[Verdict.REPRODUCED]
    differs = counts[Verdict.DIFFERS]
    if not reproduced + differs:
        return (
            f"Not known yet: of {total} published figures ({MEASURES}), the scale {scale} can "
            "judge none. They are for the paper’s own data, models and recipe."
        )
    if reproduced == total:
        return f"Yes: all {total} published figures ({MEASURES}) are reproduced."
    rest = [words(Verdict.DIFFERS, differs)] if differs else []
    other, not_run = counts[Verdict.OTHER_RECIPE], counts[Verdict.NOT_RUN]
    if other:
        rest.append(f"{other} {_were(other)} not run by the paper’s recipe")
    if not_run:
        rest.append(f"{not_run} {_were(not_run)} not run at the scale {scale}")
    return (
        f"{'In part' if reproduced else 'No'}: {reproduced} of {total} published figures "
        f"({MEASURES}) {'is' if reproduced == 1 else 'are'} reproduced, {', '.join(rest)}."
    )


def aside(entries: Sequence[Entry]) -> str:
    """What became of the claims that need no training; empty if there are none."""
    others = [entry for entry in entries if not entry.of_training]
    counts = tally(others)
    built = counts.pop(Verdict.BY_CONSTRUCTION)
    said = [words(verdict, count) for verdict, count in counts.items() if count]
    sentences = []
    if said:
        sentences.append(
            f"Of {len(others) - built} claims that need no training (sequential operations, path "
            f"lengths, parameters): {', '.join(said)}."
        )
    if built:
        sentences.append(
            f"{words(Verdict.BY_CONSTRUCTION, built)} (complexities per layer): FLOPs are counted "
            "by fvcore, by torch and by the formula, and the stage fails where these differ. "
            "They cannot fail here, and are not counted."
        )
    return " ".join(sentences)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
