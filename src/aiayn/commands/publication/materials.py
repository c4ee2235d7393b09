"""Which corpora and downloads a task's text was made of, from the parameters in dvc.lock."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from aiayn.results import places


def corpora_of(params: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], frozenset[str]]:
    """The catalogue's corpora that a task's text is made of, from the params of its download; and
    in which languages. As they were then, whatever the parameters' schema is now."""
    texts = (value for key, value in params.items() if key.endswith(".text"))
    text: Mapping[str, Any] = next(texts, {})
    corpora = (params.get("catalogue") or {}).get("corpora") or {}
    named = [*text.get("train", ()), text.get("dev"), *(text.get("tests") or {}).values()]
    languages = frozenset(str(text[side]) for side in places.SIDES if side in text)
    return [corpora[name] for name in dict.fromkeys(named) if name in corpora], languages


def downloads_of(
    params: Mapping[str, Any], corpora: Iterable[Mapping[str, Any]], languages: Container[str]
) -> Iterator[Mapping[str, Any]]:
    """The catalogue's downloads that corpora come from, each once."""
    downloads = (params.get("catalogue") or {}).get("downloads") or {}
    names = dict.fromkeys(name for corpus in corpora for name in _named(corpus, languages))
    return (downloads[name] for name in names if name in downloads)


def _named(corpus: Mapping[str, Any], languages: Container[str]) -> Iterator[str]:
    """Whatever a corpus calls its download or its division, however deep; of its sides, those in
    these languages."""
    for key, value in corpus.items():
        if key == "sides" and value:
            value = {language: side for language, side in value.items() if language in languages}
        if isinstance(value, Mapping):
            yield from _named(value, languages)
        elif key in ("download", "division") and value:
            yield str(value)
