"""A measured number that says how it was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from aiayn.errors import ScoreError

DECIMALS = 2


@dataclass(frozen=True, kw_only=True)
class Score:
    """A corpus score in percent, 0 to 100.

    `low` and `high` bound a 95% confidence interval where one was estimated. `signature` tells
    everything that must be equal before two scores may be compared, as `key:value|key:value`.
    """

    value: float
    signature: str
    low: float | None = None
    high: float | None = None

    def to_json(self) -> dict[str, float | str]:
        """As plain data for a score file: numbers rounded, absent bounds left out."""
        return {
            name: round(item, DECIMALS) if isinstance(item, float) else item
            for name, item in asdict(self).items()
            if item is not None
        }

    @classmethod
    def from_json(cls, data: object) -> Score:
        """The inverse of `to_json`, up to rounding.

        Raises:
            ScoreError: the data is not a score.
        """
        if (
            not isinstance(data, dict)
            or not {"value", "signature"} <= set(data) <= {"value", "signature", "low", "high"}
            or not isinstance(data["signature"], str)
            or not all(type(data[name]) in (int, float) for name in data if name != "signature")
        ):
            raise ScoreError(
                f"a score has value, signature and perhaps low and high; this is {data!r}. "
                "Compute it again: dvc repro -f score."
            )
        return cls(**data)
