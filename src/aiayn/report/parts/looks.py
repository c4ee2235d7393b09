"""What tables of tests say of interim looks at their p-values, while seeds were being added."""

from __future__ import annotations

from collections.abc import Iterator

from aiayn.config import Config


def looks_note(config: Config) -> Iterator[str]:
    """A remark below a table; none where the p-values were looked at once."""
    looks = config.variations.looks or 1
    if looks > 1:
        yield (
            f"p is also corrected for {looks} interim looks at this table (multiplied by {looks}), "
            "while runs were being added (docs/decisions/significance.md)."
        )
