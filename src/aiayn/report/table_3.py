"""Table 3: variations of the architecture, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from math import sqrt

from aiayn.config import Config, Model
from aiayn.errors import ScoreError
from aiayn.paper import Paper, Printed, VariationRow
from aiayn.report.evidence import Evidence
from aiayn.report.profiles import ModelsProfile
from aiayn.report.section import Section
from aiayn.report.table_3_figures import figures
from aiayn.report.table_3_verdicts import model_name, verdicts
from aiayn.report.tables import EMPTY, Cell, Row, Table, signed
from aiayn.report.variations import OverSeeds, Variation, Variations

COLUMNS = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "eps_ls", "steps", "positions")
SIGNIFICANT = 0.05
OURS_ALONE = "own"
FIELDS = (
    "origin", "row", "group", "model", "runs", "split", "test_set", "pairs", "perplexity",
    "perplexity_sd", "bleu", "bleu_sd", "bleu_difference", "p_value", "parameters", "moves",
)  # fmt: skip

PROTOCOL = (
    "Perplexity is per word piece, so it compares only within one vocabulary. Both are of the last "
    "checkpoint, not averaged, on the development set (section 6.2); ours is sacreBLEU (13a). With "
    "several seeds a cell is their mean, with the standard deviation beside it."
)
MOVES = (
    "Moves: whether a row's BLEU parts from the base's in the paper's direction. It is said only "
    "where ours is outside the noise: for one seed, by sacreBLEU's paired bootstrap test "
    "(p < 0.05); for several, beyond two standard errors. The test knows the noise of the choice "
    "of sentences; that of the seed it cannot know, and the paper's rows are one training each."
)
PARAMETERS = (
    "Parameters at the paper's size are counted for a vocabulary of 37,000 pieces; no single "
    "vocabulary meets the paper's whole column (docs/deviations.md)."
)


class Move(Enum):
    """How a row of ours stands to the base, beside the paper's."""

    SAME = "as in the paper"
    OPPOSITE = "against the paper"
    NOISE = "within the noise"
    PAPER_EQUAL = "no move in the paper"
    NONE = EMPTY


def section(evidence: Evidence) -> Section:
    """Table 3 with ours; findings are the BLEU and perplexity cells of all rows.

    Raises:
        ScoreError: the stage compare has run with other models or another base.
    """
    paper, config, found = evidence.paper, evidence.config, evidence.variations
    if found and (
        found.base != config.variations.base or found.models.keys() - config.models.keys()
    ):
        raise ScoreError(
            "comparisons/table_3.json: of other parameters than params.yaml. Make it again: "
            "dvc repro compare."
        )
    return Section(
        key="table_3",
        title="Table 3",
        subtitle="variations of the architecture",
        lead=paper.about["table_3"],
        tables=(_table(paper, config, found, evidence.models),),
        records=list(_records(paper, config, found, evidence.models)),
        findings=tuple(verdicts(evidence)),
        figures=tuple(figures(paper, config, found, evidence.models)),
    )


def move(paper: Paper, row: str, found: Variations | None, model: str) -> Move:
    """How the row's BLEU moves against the base's, in the paper and here."""
    variation = found.models.get(model) if found else None
    if row == "base" or found is None or variation is None:
        return Move.NONE
    base = found.models[found.base]
    difference = variation.bleu.mean - base.bleu.mean
    if not difference or not _outside_noise(variation, base):
        return Move.NOISE
    printed = paper.table_3[row].bleu.value - paper.table_3["base"].bleu.value
    if abs(printed) < 0.05:  # the paper prints one decimal
        return Move.PAPER_EQUAL
    return Move.SAME if printed * difference > 0 else Move.OPPOSITE


def _outside_noise(variation: Variation, base: Variation) -> bool:
    difference = abs(variation.bleu.mean - base.bleu.mean)
    if variation.bleu.sd is not None and base.bleu.sd is not None:
        error = sqrt(
            variation.bleu.sd**2 / len(variation.seeds) + base.bleu.sd**2 / len(base.seeds)
        )
        return difference > 2 * error
    p_values = [seed.p_value for seed in variation.seeds.values()]
    return all(p is not None and p < SIGNIFICANT for p in p_values)


def _table(
    paper: Paper, config: Config, found: Variations | None, profile: ModelsProfile | None
) -> Table:
    rows: list[Row] = []
    for key, printed in paper.table_3.items():
        rows.append(_paper_row(key, printed, profile))
        name = model_name(config, key)
        if name in config.models:
            group = f"ours ({name})"
            rows.append(
                _our_row(group, name, config, found, profile, move(paper, key, found, name))
            )
    for name in own_models(paper, config, found):
        rows.append(_our_row(f"ours ({name})", name, config, found, profile, Move.NONE))
    notes = paper.notes["table_3"]
    return Table(
        "Table 3, with ours beneath",
        ("Row", *COLUMNS, "PPL", "BLEU", "params ×10⁶", "×10⁶ at the paper's size", "moves"),
        "l" + "r" * (len(COLUMNS) - 1) + "l" + "rrrr" + "l",
        tuple(rows),
        (
            *(("", note) for note in (PROTOCOL, MOVES, PARAMETERS)),
            ("", notes["B.d_v"]),
            ("", f"Published figures: {paper.source}."),
        ),
        key="table-3",
    )


def own_models(paper: Paper, config: Config, found: Variations | None) -> list[str]:
    """Models that learned the task but stand in no row of the paper."""
    rows = {model_name(config, key) for key in paper.table_3}
    return [name for name in (found.models if found else {}) if name not in rows]


def _paper_row(key: str, printed: VariationRow, profile: ModelsProfile | None) -> Row:
    group = f"({printed.group})" if len(printed.group) == 1 else printed.group
    millions = printed.parameters_millions
    counted = profile.paper.get(key) if profile else None
    return Row(
        (
            Cell(group),
            *(_printed(printed.columns.get(column)) for column in COLUMNS),
            Cell(printed.perplexity.text),
            Cell(printed.bleu.text),
            _printed(millions),
            _millions(counted.parameters, counted.source, "profile_models")
            if counted
            else Cell(EMPTY),
            Cell(""),
        ),
        "paper",
    )


def _printed(value: Printed | None) -> Cell:
    return Cell(value.text if value else "")


def _our_row(
    group: str,
    name: str,
    config: Config,
    found: Variations | None,
    profile: ModelsProfile | None,
    moves: Move,
) -> Row:
    variation = found.models.get(name) if found else None
    cells = [Cell(text) for text in _model_cells(config.models[name])]
    if variation is None:
        return Row((Cell(group), *cells, Cell("not run", span=2), Cell(""), Cell(""), Cell("")))
    cost = profile.models.get(name, {}).get(config.variations.task) if profile else None
    return Row(
        (
            Cell(group),
            *cells,
            _over_seeds(variation.perplexity, variation.run),
            _over_seeds(variation.bleu, variation.run),
            _millions(cost.parameters, cost.source, "profile_models") if cost else Cell(EMPTY),
            Cell(""),
            Cell(moves.value, tone="quiet" if moves in (Move.NOISE, Move.NONE) else ""),
        ),
        "ours",
    )


def _model_cells(model: Model) -> Iterator[str]:
    for column in COLUMNS:
        value = getattr(model, column)
        yield f"{value:,}" if column == "steps" else str(value)


def _over_seeds(measure: OverSeeds, run: str) -> Cell:
    detail = f"± {measure.sd:.2f}" if measure.sd is not None else ""
    sources = (f"{measure.source}.mean", *((f"{measure.source}.sd",) if detail else ()))
    return Cell(f"{measure.mean:.2f}", detail=detail, sources=sources, run=run)


def _millions(parameters: int, source: str, run: str) -> Cell:
    return Cell(f"{parameters / 1e6:.2f}", sources=(f"{source}.parameters",), run=run)


def _records(
    paper: Paper, config: Config, found: Variations | None, profile: ModelsProfile | None
) -> Iterator[dict[str, str]]:
    """The paper's line of each row, ours after it, then our own rows."""
    empty = dict.fromkeys(FIELDS, "")
    for key, printed in paper.table_3.items():
        millions = printed.parameters_millions
        yield empty | {
            "origin": "paper",
            "row": key,
            "group": printed.group,
            "split": "dev",
            "test_set": "+".join(paper.table_3_test_set.corpora),
            "pairs": str(paper.table_3_test_set.pairs),
            "perplexity": printed.perplexity.text,
            "bleu": printed.bleu.text,
            "parameters": f"{millions.value * 1e6:.0f}" if millions else "",
        }
        name = model_name(config, key)
        yield from _our_record(
            empty | {"row": key, "group": printed.group, "moves": _moves(paper, key, found, name)},
            name, config, found, profile,
        )  # fmt: skip
    for name in own_models(paper, config, found):
        yield from _our_record(empty | {"group": OURS_ALONE}, name, config, found, profile)


def _moves(paper: Paper, key: str, found: Variations | None, name: str) -> str:
    moves = move(paper, key, found, name)
    return "" if moves is Move.NONE else moves.value


def _our_record(
    line: Mapping[str, str],
    name: str,
    config: Config,
    found: Variations | None,
    profile: ModelsProfile | None,
) -> Iterator[dict[str, str]]:
    variation = found.models.get(name) if found else None
    if found is None or variation is None:
        return
    cost = profile.models.get(name, {}).get(config.variations.task) if profile else None
    base = found.models[found.base]
    p_values = [f"{s.p_value}" for s in variation.seeds.values() if s.p_value is not None]
    yield {
        **line,
        "origin": "ours",
        "model": name,
        "runs": " ".join(seed.run for seed in variation.seeds.values()),
        "split": "dev",
        "test_set": "+".join(found.evaluation_set.corpora),
        "pairs": str(found.evaluation_set.pairs),
        "perplexity": f"{variation.perplexity.mean}",
        "perplexity_sd": f"{variation.perplexity.sd or ''}",
        "bleu": f"{variation.bleu.mean}",
        "bleu_sd": f"{variation.bleu.sd or ''}",
        "bleu_difference": signed(variation.bleu.mean - base.bleu.mean)
        if name != found.base
        else "",
        "p_value": " ".join(p_values),
        "parameters": str(cost.parameters) if cost else "",
    }
