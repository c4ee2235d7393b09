"""The form in which a task's text is learned, dev and test sets included."""

from __future__ import annotations

from collections.abc import Callable

from aiayn.config import Text

Pair = tuple[str, str]


def former(text: Text) -> Callable[[Pair], Pair]:
    """What makes a pair of the task's text out of a corpus' pair: see `text.form`."""
    if text.form is None:
        return lambda pair: pair
    from aiayn.data.moses import normalizer  # takes a moment, which only such tasks pay

    source, target = normalizer(text.source), normalizer(text.target)
    return lambda pair: (source(pair[0]), target(pair[1]))
