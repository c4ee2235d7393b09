"""A model: a row of table 3."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from aiayn.config.training import Fraction
from aiayn.validation import StrictModel, invalid


class Model(StrictModel):
    """A row of table 3, column for column.

    field | meaning
    --- | ---
    N | layers of the encoder, and of the decoder
    d_model, d_ff | widths of the sub-layers' outputs and of the feed-forward network's inner layer
    h | heads of attention
    d_k, d_v | widths of a head's keys and values; left out: d_model / h (section 3.2.2)
    P_drop, eps_ls | dropout rate; label smoothing
    steps | optimiser steps
    positions | positional encoding: sinusoids, or learned embeddings (row E)
    average | number of last checkpoints that are averaged (section 6.1: 5 for base, 20 for big)
    checkpoint_steps | steps between checkpoints; the paper's 10 minutes: 1,500 (base), 600 (big)

    Extensions, which the paper does not train; the defaults are its model:

    field | meaning
    --- | ---
    neighbourhood | r of section 4: self-attention sees r positions; left out: all of them
    attention | "scaled": equation 1; "unscaled": without 1 / sqrt(d_k); "additive": scores by a
      feed-forward network (both section 3.2.1); "sigmoid": instead of the softmax
    norm | "post": LayerNorm(x + Sublayer(x)) (section 3.1); "pre": x + Sublayer(LayerNorm(x))
    position_base | of the sinusoids' wavelengths (section 3.5)

    Positions may also be "none".
    """

    N: PositiveInt
    d_model: PositiveInt
    d_ff: PositiveInt
    h: PositiveInt
    d_k: PositiveInt
    d_v: PositiveInt
    P_drop: Fraction
    eps_ls: Fraction
    steps: PositiveInt
    positions: Literal["sinusoid", "learned", "none"]
    average: PositiveInt
    checkpoint_steps: PositiveInt
    neighbourhood: PositiveInt | None = None
    attention: Literal["scaled", "unscaled", "additive", "sigmoid"] = "scaled"
    norm: Literal["post", "pre"] = "post"
    position_base: Annotated[float, Field(gt=1)] = 10000.0

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of table 3, and the extensions that the row has."""
        return self.model_dump(exclude_defaults=True)

    @property
    def extensions(self) -> dict[str, Any]:
        """The fields that differ from the paper's models, with their values."""
        defaults = {
            name for name, field in type(self).model_fields.items() if not field.is_required()
        }
        found = {name: value for name, value in self.columns.items() if name in defaults}
        return found | ({"positions": "none"} if self.positions == "none" else {})

    @model_validator(mode="before")
    @classmethod
    def _fill_in_head_widths(cls, row: Any) -> Any:
        if not isinstance(row, dict) or row.keys() >= {"d_k", "d_v"}:
            return row
        d_model, h = row.get("d_model"), row.get("h")
        if not isinstance(d_model, int) or not isinstance(h, int) or min(d_model, h) < 1:
            return {"d_k": 1, "d_v": 1} | row  # validation then reports d_model or h
        if d_model % h:
            divisors = [n for n in range(1, 65) if d_model % n == 0]
            near = sorted(sorted(divisors, key=lambda n: abs(n - h))[:5])
            raise invalid(
                "h",
                f"is {h}, which does not divide d_model {d_model}. "
                f"Use {', '.join(map(str, near))}, or give d_k and d_v.",
            )
        return {"d_k": d_model // h, "d_v": d_model // h} | row

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.d_model % 2:
            raise invalid("d_model", "must be even: positions are encoded by sine-cosine pairs.")
        if self.neighbourhood is not None and self.attention != "scaled":
            raise invalid(
                "attention", f"is {self.attention}; a neighbourhood needs scaled attention."
            )
        checkpoints = -(-self.steps // self.checkpoint_steps)  # the last step always makes one
        if self.average > checkpoints:
            raise invalid(
                "average",
                f"is {self.average}, but steps {self.steps} with checkpoint_steps "
                f"{self.checkpoint_steps} give {checkpoints} to average; lower average or "
                "checkpoint_steps, or raise steps.",
            )
        return self
