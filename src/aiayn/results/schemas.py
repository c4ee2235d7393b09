"""The columns of the DataFrames in `aiayn.results.frames`: their types, and what each holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd


class Field(NamedTuple):
    """A column's type and description."""

    dtype: str
    about: str


Schema = Mapping[str, Field]

_RUN = {
    "run": Field("string", "name in params.yaml, such as en-de.base"),
    "task": Field("string", "name in params.yaml"),
    "kind": Field("string", "of the task: translation, parsing, copying or classification"),
    "model": Field("string", "name in params.yaml"),
    "seed": Field("int64", "of the training"),
}
_SOURCE = Field("string", "where the number was read, FILE:KEY.KEY")
_EFFECT = {
    "effect": Field("float64", "difference of BLEU, or ratio of perplexities, to the base"),
    "low": Field("float64", "lower end of the effect's simultaneous interval"),
    "high": Field("float64", "upper end"),
    "p_value": Field("float64", "of this test, uncorrected"),
    "p_corrected": Field("float64", "corrected for the number of tests (Holm) and interim looks"),
}

SCHEMAS: Mapping[str, Schema] = {
    "runs": {
        **_RUN,
        "tested": Field("bool", "whether the test sets are decoded"),
        "tokens": Field("Int64", "target pieces trained on; missing before training"),
        "seconds": Field("float64", "of the training: run metadata"),
        "tokens_per_second": Field("float64", "target pieces: run metadata"),
        "processes": Field("Int64", "of the training: run metadata"),
        "device": Field("string", "of the training: run metadata"),
    },
    "scores": {
        **_RUN,
        "split": Field("string", "dev, test or the name of another test set"),
        "test_set": Field("string", "corpora of the split, joined by +"),
        "pairs": Field("int64", "sentence pairs"),
        "digests": Field("string", "SHA-256 of each side, SIDE:DIGEST, joined by a space"),
        "metric": Field("string", "such as bleu, chrf, bracket_f1, accuracy"),
        "value": Field("float64", "percent, 0 to 100; TER may be higher"),
        "low": Field("float64", "lower end of the 95 % interval; missing where none was estimated"),
        "high": Field("float64", "upper end"),
        "signature": Field("string", "must match for two scores to be comparable"),
        "source": _SOURCE,
    },
    "histories": {
        "run": _RUN["run"],
        "step": Field("int64", "optimiser steps so far"),
        "epoch": Field("float64", "passes over the training text so far"),
        "tokens": Field("int64", "target pieces so far, without padding"),
        "learning_rate": Field("float64", "of this step"),
        "loss": Field("float64", "label-smoothed, nats per piece, since the previous line"),
        "dev_loss": Field("float64", "nats per piece; missing if the step was not validated"),
        "dev_perplexity": Field("float64", "per piece; missing if the step was not validated"),
    },
    "models": {
        "origin": Field("string", "ours, or paper: a row of table 3 at its printed size"),
        "model": Field("string", "name in params.yaml, or the paper's row"),
        "task": Field("string", "the vocabulary's task; missing for the paper's models"),
        "vocabulary": Field("int64", "pieces"),
        "parameters": Field("int64", "number of trainable parameters"),
        "forward_flops_source": Field("int64", "per source piece"),
        "forward_flops_target": Field("int64", "per target piece"),
        "training_flops_source": Field("int64", "forward plus backward, per source piece"),
        "training_flops_target": Field("int64", "forward plus backward, per target piece"),
        "source": _SOURCE,
    },
    "layers": {
        "layer": Field("string", "layer type of table 1, or a variant of one"),
        "quantity": Field("string", "what was counted, measured or fitted, such as term_flops"),
        "size": Field("string", "the variable of an exponent or a line"),
        "n": Field("Int64", "positions"),
        "d": Field("Int64", "width"),
        "k": Field("Int64", "kernel"),
        "r": Field("Int64", "neighborhood"),
        "value": Field("float64", "FLOPs of one sentence, layers, operations, or an exponent"),
        "standard_error": Field("float64", "of a fit; missing for a count"),
        "paper": Field("Int64", "the exponent of the paper's formula"),
        "source": _SOURCE,
    },
    "comparisons": {
        "model": Field("string", "a variation of table 3, or the base"),
        "measure": Field("string", "perplexity, bleu or a metric of one's own"),
        "mean": Field("float64", "over the seeds"),
        "sd": Field("float64", "sample standard deviation; missing for one seed"),
        "n": Field("int64", "seeds"),
        **_EFFECT,
        "claim": Field("string", "the paper's, relative to its base: higher, lower or equal"),
        "outcome": Field("string", "ours: higher, lower, equal or undecided"),
        "source": _SOURCE,
    },
    "findings": {
        "finding": Field("string", "key of aiayn.paper.findings.STATEMENTS"),
        "verdict": Field(
            "string",
            "holds at this scale, does not hold at this scale, undecided, not run at this scale",
        ),
        **_EFFECT,
        "source": _SOURCE,
    },
}


def make_frame(schema: Schema, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of a schema; absent fields become missing values.

    Raises:
        ValueError, TypeError: a row has a field that is not in the schema or of another type, or
            lacks one that may not be missing.
    """
    records = list(rows)
    if unknown := {name for row in records for name in row} - schema.keys():
        raise ValueError(f"no such column: {', '.join(sorted(unknown))}")
    frame = pd.DataFrame(records, columns=list(schema), dtype=object)
    return frame.astype({name: field.dtype for name, field in schema.items()})
