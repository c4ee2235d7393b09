"""The recipe by which every model is trained (section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.config.rules import below_one, positive, require


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Adam's decay rates of both moments, and what keeps its quotient finite (section 5.3)."""

    beta1: float
    beta2: float
    epsilon: float

    def check(self, key: str) -> None:
        """Raises ConfigError where a moment would not decay, or the quotient not be finite."""
        for name in ("beta1", "beta2"):
            below_one(f"{key}.{name}", getattr(self, name))
        positive(f"{key}.epsilon", self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Training:
    """How every model is trained, whatever the machine. A step is one of the optimiser.

    field | meaning
    --- | ---
    batch_tokens | about as many source and as many target tokens make a step's batch
    micro_batches | pieces of a batch, which the processes share out, however many they are
    max_length | longer training pairs, in pieces, are left out
    warmup_steps | over which the learning rate rises (equation 3)
    learning_rate_scale | factor on equation 3
    adam | the optimiser
    validation_steps | between two measurements on the dev set
    log_steps | between two lines of the history
    """

    batch_tokens: int
    micro_batches: int
    max_length: int
    warmup_steps: int
    learning_rate_scale: float
    adam: Adam
    validation_steps: int
    log_steps: int

    def check(self) -> None:
        """Raises ConfigError where nothing could be trained so."""
        for name in (
            "batch_tokens", "micro_batches", "max_length", "warmup_steps", "learning_rate_scale",
            "validation_steps", "log_steps",
        ):  # fmt: skip
            positive(f"training.{name}", getattr(self, name))
        self.adam.check("training.adam")
        size = self.batch_tokens // self.micro_batches
        require(
            size >= self.max_length,
            "training.batch_tokens",
            f"gives micro-batches of {size} tokens, too small for one sentence of max_length "
            f"{self.max_length}; raise it, or use fewer micro_batches",
        )
