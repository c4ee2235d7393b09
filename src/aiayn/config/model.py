"""A model: a row of table 3."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from aiayn.config.rules import below_one, positive, require
from aiayn.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Model:
    """A row of table 3, column for column.

    field | meaning
    --- | ---
    N | layers of the encoder, and of the decoder
    d_model, d_ff | widths of the sub-layers' outputs and of the feed-forward network's inner layer
    h | heads of attention
    d_k, d_v | widths of a head's keys and values; a row that leaves them out means d_model / h
    P_drop, eps_ls | rate of dropout; label smoothing
    steps | of the optimiser
    positions | how positions are encoded: sinusoids, or embeddings that are learned (row E)
    average | number of last checkpoints that are averaged (section 6.1: 5 for base, 20 for big)
    checkpoint_steps | between two checkpoints: the paper's 10 minutes are 1,500 of base, 600 of big
    neighbourhood | r of section 4: self-attention sees so many positions; absent: all of them
    """

    N: int
    d_model: int
    d_ff: int
    h: int
    d_k: int
    d_v: int
    P_drop: float
    eps_ls: float
    steps: int
    positions: Literal["sinusoid", "learned"]
    average: int
    checkpoint_steps: int
    neighbourhood: int | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the row has, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def check(self, key: str) -> None:
        """Raises ConfigError where no such model can be built, or averaged."""
        for field in (
            "N",
            "d_model",
            "d_ff",
            "h",
            "d_k",
            "d_v",
            "steps",
            "average",
            "checkpoint_steps",
            "neighbourhood",
        ):
            positive(f"{key}.{field}", getattr(self, field))
        for field in ("P_drop", "eps_ls"):
            below_one(f"{key}.{field}", getattr(self, field))
        require(self.d_model % 2 == 0, f"{key}.d_model", "must be even: a sine and a cosine each")
        checkpoints = -(-self.steps // self.checkpoint_steps)  # the last step makes one anyway
        require(
            self.average <= checkpoints,
            f"{key}.average",
            f"is {self.average}, but steps {self.steps} with checkpoint_steps "
            f"{self.checkpoint_steps} give {checkpoints} to average; lower average or "
            "checkpoint_steps, or raise steps",
        )


def spelled_out(row: Any, key: str) -> Any:
    """A row of the file with its d_k and d_v, which are d_model / h where it leaves them out
    (section 3.2.2).

    Raises:
        ConfigError: h does not divide d_model.
    """
    if not isinstance(row, dict) or row.keys() >= {"d_k", "d_v"}:
        return row
    d_model, h = row.get("d_model"), row.get("h")
    if not isinstance(d_model, int) or not isinstance(h, int) or min(d_model, h) < 1:
        return {"d_k": 1, "d_v": 1} | row  # no model: what is said is said of d_model or h
    if d_model % h:
        divisors = [n for n in range(1, 65) if d_model % n == 0]
        near = sorted(sorted(divisors, key=lambda n: abs(n - h))[:5])
        raise ConfigError(
            f"{key}.h is {h}, which does not divide d_model {d_model}. "
            f"Use {', '.join(map(str, near))}, or give d_k and d_v."
        )
    return {"d_k": d_model // h, "d_v": d_model // h} | row
