"""The known cost of departures from the recipe, from table 3 and from others' reports.

Every cost has a source.
"""

from __future__ import annotations

from collections.abc import Iterator

from aiayn.paper import table_3

# by the key of a departure: a dotted parameter, or a property of the text
REPORTED = {
    "training.batch_tokens": (
        "22 to 25.6 BLEU where one GPU trained on its own smaller batches (tensor2tensor#317, "
        "#455, #1542; fairseq#346)",
    ),
    "model.average": (
        "26.65 for base with neither averaging nor split compounds, on WMT16's text (fairseq#1352)",
    ),
    "text.form": (
        "lower-cased BLEU of one output is 0.52 above cased: 28.85 and 28.33 (tensor2tensor#317)",
    ),
}
PROTOCOL = (
    "The protocol counts too, where a score of other code is compared: on newstest2014 EN-DE, BLEU "
    "without split compounds is 0.7 to 1 lower, and against a reference that keeps its typographic "
    "quotes about 0.5 lower for a model that writes plain ones (tensor2tensor#317)."
)
SEED = (
    "not stated in the paper; late checkpoints of one training differ by about 0.3 BLEU (NVIDIA's "
    "DeepLearningExamples)"
)


def known_costs(key: str) -> tuple[str, ...]:
    """The known costs of a departure in a parameter, with their sources; empty if none is known."""
    section, _, column = key.partition(".")
    printed = tuple(_printed(column)) if section == "model" else ()
    table = (f"table 3, BLEU on newstest2013: {'; '.join(printed)}",) if printed else ()
    return (*table, *REPORTED.get(key, ()))


def _printed(column: str) -> Iterator[str]:
    """The rows of table 3 that differ from base only in this column (and in d_k and d_v)."""
    base = table_3.ROWS["base"]
    for row in table_3.ROWS.values():
        changed = {name for name, cell in row.columns.items() if cell != base.columns[name]}
        if row is base or changed - {"d_k", "d_v"} != {column} - {"d_k", "d_v"}:
            continue
        if column in changed:
            difference = f"{row.bleu.value - base.bleu.value:+.1f}".replace("-", "−")
            yield f"{column} {row.columns[column].text} {difference}"
