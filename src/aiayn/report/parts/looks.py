"""What tables of tests say of looks at their p-values while seeds were still being added."""

from __future__ import annotations

from aiayn.config import Config


def looks_note(config: Config) -> tuple[tuple[str, str], ...]:
    """A general remark of a table; none where the p-values were looked at once."""
    looks = config.variations.looks or 1
    if looks == 1:
        return ()
    return (
        (
            "",
            f"p is corrected for {looks} looks, too (times {looks}): so often was this table "
            "looked at while runs were being added (docs/decisions/significance.md).",
        ),
    )
