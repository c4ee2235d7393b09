"""The recipe by which every model is trained (section 5)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from aiayn.validation import StrictModel, invalid

Fraction = Annotated[float, Field(ge=0, lt=1)]


class Adam(StrictModel):
    """Adam's decay rates of both moments, and the term that avoids division by 0 (section 5.3)."""

    beta1: Fraction
    beta2: Fraction
    epsilon: PositiveFloat


class Training(StrictModel):
    """How every model is trained, on any machine. A step is one of the optimiser.

    field | meaning
    --- | ---
    batch_tokens | approximate number of source tokens, and of target tokens, per step
    micro_batches | parts of a batch, divided among the processes
    max_length | longer training pairs, in pieces, are left out
    warmup_steps | steps of rising learning rate (equation 3)
    learning_rate_scale | factor on equation 3
    adam | the optimiser
    validation_steps | steps between measurements on the dev set
    log_steps | steps between lines of the history
    """

    batch_tokens: PositiveInt
    micro_batches: PositiveInt
    max_length: PositiveInt
    warmup_steps: PositiveInt
    learning_rate_scale: PositiveFloat
    adam: Adam
    validation_steps: PositiveInt
    log_steps: PositiveInt

    @model_validator(mode="after")
    def _check_micro_batches(self) -> Self:
        size = self.batch_tokens // self.micro_batches
        if size < self.max_length:
            raise invalid(
                "batch_tokens",
                f"gives micro-batches of {size} tokens, too small for one sentence of max_length "
                f"{self.max_length}; raise it, or use fewer micro_batches.",
            )
        return self
