"""The remark on interim looks: tests that were read while seeds were still being added."""

from __future__ import annotations

from collections.abc import Iterator

from aiayn.config import Config


def interim_looks_note(config: Config) -> Iterator[str]:
    """A remark below a table of tests; none where there was one look only."""
    looks = config.variations.looks or 1
    if looks > 1:
        yield (
            f"p is also corrected for {looks} interim looks at this table (multiplied by {looks}), "
            "while runs were being added (docs/decisions/significance.md)."
        )
