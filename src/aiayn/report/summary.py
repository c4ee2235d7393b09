"""The summary in three sentences, and a table of every published figure with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from aiayn.config import Config
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.tables import NOTHING, Cell, RowValues, Table, numbers, row, table, text
from aiayn.report.verdict import Entry, Verdict
from aiayn.results.comparison import Verdict as Outcome

JUDGED = (Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.BY_CONSTRUCTION)
MEASURES = "BLEU, perplexity and F1"


def summary(evidence: Evidence, sections: Sequence[Section]) -> tuple[str, str, str]:
    """What was run; what of the paper's claims holds here; which of its figures are reproduced."""
    entries = [entry for section in sections for entry in section.entries]
    return _runs(evidence), _claims(evidence), _figures(entries, evidence.config)


def _runs(evidence: Evidence) -> str:
    config = evidence.config
    scored = [run for run, splits in evidence.scores.items() if splits]
    corpora = dict.fromkeys(name for run in scored for name in config.task_of(run).text.train)
    if not scored:
        return f"None of the {len(config.runs)} runs of the scale {config.scale} is scored yet."
    if len(config.runs) == 1:
        who = f"The only run of the scale {config.scale} is"
    else:
        who = f"{len(scored)} of {len(config.runs)} runs of the scale {config.scale} are"
    return f"{who} trained and scored, on {_listed(list(corpora))}."


def _claims(evidence: Evidence) -> str:
    compared = evidence.variations
    findings = compared.findings.values() if compared else ()
    outcomes = [found.verdict for found in findings if found.verdict != Verdict.NOT_RUN.value]
    if evidence.awaits_comparison:
        return "The claims of the paper are not tested yet: the runs are not compared."
    if not outcomes:
        return "No claim of the paper is tested here: this scale compares no two models."
    tests = "claim" if len(outcomes) == 1 else "claims"
    return (
        f"Of {len(outcomes)} {tests} of the paper that the models here can test, "
        f"{counted(outcomes)}."
    )


def counted(outcomes: Iterable[Outcome]) -> str:
    """The number of tested claims by verdict: 3 hold and 11 are undecided."""
    verdicts = Counter[Outcome](outcomes)
    verbs: Mapping[Outcome, tuple[str, str]] = {
        "holds at this scale": ("holds", "hold"),
        "does not hold at this scale": ("does not hold", "do not hold"),
        "undecided": ("is undecided", "are undecided"),
    }
    parts = [
        f"{verdicts[verdict]} {forms[verdicts[verdict] > 1]}"
        for verdict, forms in verbs.items()
        if verdicts[verdict]
    ]
    return _listed(parts)


def _figures(entries: Sequence[Entry], config: Config) -> str:
    """Scores of trained models; then what needs no training, without what holds by construction."""
    trained = Counter(entry.verdict for entry in entries if entry.of_training)
    counted = Counter(entry.verdict for entry in entries if not entry.of_training)
    untrained = sum(counted[verdict] for verdict in (Verdict.REPRODUCED, Verdict.DIFFERS))
    judged = trained[Verdict.REPRODUCED] + trained[Verdict.DIFFERS]
    scores = (
        f"of the paper's {trained.total()} scores ({MEASURES}), {trained[Verdict.REPRODUCED]} are "
        f"reproduced and {trained[Verdict.DIFFERS]} differ"
        if judged
        else f"none of the paper's {trained.total()} scores ({MEASURES}) can be judged here, since "
        "they are for its own data, models and recipe"
    )
    others = (
        f"; of {untrained} figures that need no training (sequential operations, path lengths, "
        f"parameters), {counted[Verdict.REPRODUCED]} are reproduced"
    )
    return f"{scores[0].upper()}{scores[1:]}{others if untrained else ''}."


def _listed(names: Sequence[str]) -> str:
    """At most three, and how many more there are."""
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} other corpora"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def verdicts(sections: Sequence[Section]) -> Table:
    """A row for each published figure that was judged; one for all others of a section with the
    same verdict, as most scales can judge few."""
    return table(
        "Every published figure, with the verdict on ours",
        text("Figure", "Where")
        + numbers("Paper", "Ours", "Difference", form="+.2f")
        + text("Verdict"),
        (line for section in sections for line in _rows(section)),
        key="figures",
    )


def _rows(section: Section) -> Iterator[RowValues]:
    where = section.title.split(":")[0]
    for entry in section.entries:
        if entry.verdict in JUDGED:
            verdict = Cell(entry.verdict.value, tone=entry.verdict.name.lower())
            yield row(
                entry.what, where, entry.paper, entry.ours, entry.difference, verdict, block=where
            )
    for not_judged in (Verdict.OTHER_RECIPE, Verdict.NOT_RUN):
        if others := [entry for entry in section.entries if entry.verdict is not_judged]:
            about = others[0].what if len(others) == 1 else f"{len(others)} figures"
            reason = next((reason for entry in others for reason in entry.reasons), "")
            why = Cell(not_judged.value, detail=reason, tone="quiet")
            yield row(about, where, NOTHING, NOTHING, NOTHING, why, block=where)
