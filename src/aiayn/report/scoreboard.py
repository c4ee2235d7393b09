"""What all findings come to: the answer in one sentence, and how often each verdict was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aiayn.report.section import Finding
from aiayn.report.verdict import Verdict


def tally(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """How often each verdict was given."""
    verdicts = [finding.verdict for finding in findings]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


def words(verdict: Verdict, count: int) -> str:
    """A count in words: 12 reproduced, 1 differs, 2 differ, 4 not run."""
    word = verdict.value.removesuffix(" at this scale")
    return f"{count} {'differ' if verdict is Verdict.DIFFERS and count != 1 else word}"


def answer(findings: Sequence[Finding], scale: str) -> str:
    """Was the paper reproduced? Yes is said only where every finding was judged and holds."""
    counts = tally(findings)
    total, reproduced = len(findings), counts[Verdict.REPRODUCED]
    differs, not_run = counts[Verdict.DIFFERS], counts[Verdict.NOT_RUN]
    if not reproduced + differs:
        return (
            f"Not known yet: of {total} published figures, the scale {scale} can judge none. They "
            "stand for the paper’s own data and models."
        )
    word = "In part" if reproduced else "No"
    if reproduced == total:
        return f"Yes: all {total} published figures are reproduced."
    rest = [words(Verdict.DIFFERS, differs)] if differs else []
    if not_run:
        rest.append(f"{not_run} {'was' if not_run == 1 else 'were'} not run at the scale {scale}")
    verb = "is" if reproduced == 1 else "are"
    return (
        f"{word}: {reproduced} of {total} published figures {verb} reproduced, {', '.join(rest)}."
    )
