"""Assembling a task's text from corpora, with a manifest of kept and dropped pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from aiayn.config import Catalogue, Side, Text
from aiayn.data.corpora.archives import LINE_BYTES
from aiayn.data.corpora.cleaning import Cleaner, Pair, side_keys, stripped
from aiayn.data.corpora.fetching import fetch
from aiayn.data.corpora.labelled import require_all
from aiayn.data.corpora.reading import Parallel
from aiayn.errors import DataError
from aiayn.files import replaced_folder
from aiayn.results import paths
from aiayn.results.paths import SIDES
from aiayn.results.text import RAW, Manifest, Part, Split, write_lines, write_manifest

BUFFER_BYTES = 1 << 20
HELD_OUT = "held_out"  # the cleaning rule that also applies to a sampled dev set


def assemble(
    task: str,
    text: Text,
    catalogue: Catalogue,
    folder: Path,
    raw: Path,
    mirror: str | None = None,
    top: Path = Path(),
) -> None:
    """Write SPLIT.source, SPLIT.target and manifest.json of a task to `folder`; for a parsing task
    also SPLIT.trees of the dev and test sets, one bracketed tree per line, for scoring.

    Training pairs are cleaned by text.cleaning, then all text is converted to text.form. No line of
    a dev or test set is ever dropped, so that scores stay comparable: lines are only stripped, and
    those that also occur in the cleaned training text are counted in the manifest as `overlap`. The
    exception is a dev set that is sampled from a corpus: it leaves out pairs that share a side with
    a test set. Memory is constant, except for the rule `duplicates` (about 100 bytes per pair).

    Args:
        task: the task's name, for the manifest.
        text: the corpora, languages and cleaning rules.
        catalogue: the corpora's sources.
        folder: replaced as a whole once everything is written; untouched if anything fails.
        raw: folder of verified downloads.
        mirror: see `fetch`.
        top: the folder from which paths of one's own files lead.
    Raises:
        DataError: a corpus cannot be fetched, is damaged, or differs from its declaration; or
            cleaning left no training pair, or none for a label.
    """
    held_out_names = {paths.DEV: text.dev, **text.tests}
    names = dict.fromkeys((*text.train, *held_out_names.values()))
    languages = (text.source, text.target)
    found = (catalogue.corpora[name].downloads(languages) for name in names)
    downloads = list(dict.fromkeys(chain.from_iterable(found)))
    files = fetch(
        {name: catalogue.downloads[name] for name in downloads},
        raw,
        mirror,
        progress=paths.fetching(raw, task),
    )
    for side in chain.from_iterable(catalogue.corpora[name].own_files for name in names):
        files[side.source] = _own_file(top / side.source, side)
    corpora = {
        name: Parallel(name, catalogue.corpora[name], languages, files, text.leaves, text.labels)
        for name in names
    }
    normalize = _pair_normalizer(text)
    with replaced_folder(folder) as new:
        tests = {
            split: _write_held_out(new, split, corpora[corpus], normalize)
            for split, corpus in text.tests.items()
        }
        test_keys = {key for test in tests.values() for key in test.keys}
        dev = _write_held_out(new, paths.DEV, corpora[text.dev], normalize, test_keys)
        held_out = {paths.DEV: dev, **tests}
        train = _write_train(
            new, [corpora[name] for name in text.train], text, normalize, held_out.values()
        )
        manifest = Manifest(
            task=task,
            languages={"source": text.source, "target": text.target},
            form=text.form or RAW,
            cleaning=text.cleaning.model_dump(exclude_defaults=True),
            downloads={name: catalogue.downloads[name].model_dump() for name in downloads},
            splits={
                paths.TRAIN: train,
                **{split: held.entry() for split, held in held_out.items()},
            },
        )
        write_manifest(paths.manifest(new), manifest)


def _own_file(path: Path, side: Side) -> Path:
    if not path.is_file():
        raise DataError(f"{path}: no such file. conf/catalogue names it: correct its path there.")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if side.sha256 not in (None, digest):
        raise DataError(f"{path}: changed since params.yaml was composed. Run make repro.")
    return path


def _pair_normalizer(text: Text) -> Callable[[Pair], Pair]:
    """The function that converts a pair to text.form."""
    if text.form is None:
        return lambda pair: pair
    from aiayn.data.moses import normalizer  # slow to import, and only needed here

    source, target = normalizer(text.source), normalizer(text.target)
    return lambda pair: (source(pair[0]), target(pair[1]))


@dataclass
class _SplitWriter:
    """Writes the two files of a split, with counts and digests."""

    files: tuple[IO[bytes], IO[bytes]]
    pairs: int = 0
    words: list[int] = field(default_factory=lambda: [0, 0])
    digests: tuple[Any, Any] = field(default_factory=lambda: (hashlib.sha256(), hashlib.sha256()))

    def write(self, pair: Pair) -> None:
        self.pairs += 1
        for n, text in enumerate(pair):
            line = f"{text}\n".encode()
            self.files[n].write(line)
            self.digests[n].update(line)
            self.words[n] += len(text.split())

    def entry(self, corpora: Mapping[str, Part]) -> Split:
        return Split(
            corpora=corpora,
            pairs=self.pairs,
            words=dict(zip(SIDES, self.words, strict=True)),
            sha256={side: d.hexdigest() for side, d in zip(SIDES, self.digests, strict=True)},
        )


@contextmanager
def _open_split(folder: Path, split: str) -> Iterator[_SplitWriter]:
    with (
        paths.lines(folder, split, SIDES[0]).open("wb", buffering=BUFFER_BYTES) as source,
        paths.lines(folder, split, SIDES[1]).open("wb", buffering=BUFFER_BYTES) as target,
    ):
        yield _SplitWriter((source, target))


class _HeldOut:
    """A dev or test set: its manifest entry, and its overlap with the training text.

    `keys` are the `side_keys` of its pairs.
    """

    def __init__(self, written: Split, pairs: list[Pair], keys: set[str]) -> None:
        self.keys = keys
        self._written = written
        self._pairs = pairs
        self._lines: dict[str, set[Any]] = {
            "source": {source for source, _ in pairs},
            "target": {target for _, target in pairs},
            "pairs": set(pairs),
        }
        self._seen: dict[str, set[Any]] = {what: set() for what in self._lines}

    def record_overlap(self, pair: Pair) -> None:
        """Record the lines that a training pair has in common with this set."""
        for what, text in (("source", pair[0]), ("target", pair[1]), ("pairs", pair)):
            if text in self._lines[what]:
                self._seen[what].add(text)

    def entry(self) -> Split:
        overlap = {
            "source": sum(source in self._seen["source"] for source, _ in self._pairs),
            "target": sum(target in self._seen["target"] for _, target in self._pairs),
            "pairs": sum(pair in self._seen["pairs"] for pair in self._pairs),
        }
        return self._written.replace(overlap=overlap)


def _write_held_out(
    folder: Path,
    split: str,
    corpus: Parallel,
    normalize: Callable[[Pair], Pair],
    test_keys: Set[str] = frozenset(),
) -> _HeldOut:
    """Write a dev or test set. `test_keys`, for a sampled dev set: the test sets' `side_keys`."""
    is_sample = corpus.corpus.sample is not None
    pairs: list[Pair] = []
    keys: set[str] = set()
    number = 0
    with _open_split(folder, split) as writer:
        for number, (source, target) in enumerate(corpus.pairs(), start=1):
            if max(len(source), len(target)) > LINE_BYTES:
                place = corpus.place(corpus.languages[0 if len(source) > LINE_BYTES else 1])
                raise DataError(
                    f"{place}, line {number}: longer than {LINE_BYTES} bytes. "
                    "No line of a dev or test set is dropped: replace the file."
                )
            try:
                pair = stripped(source), stripped(target)
            except UnicodeDecodeError as error:
                advice = "No line of a dev or test set is dropped: convert the file to UTF-8."
                raise _not_utf8(corpus, number, source, advice) from error
            pair_keys = side_keys(pair)
            if is_sample and not test_keys.isdisjoint(pair_keys):
                continue
            keys |= pair_keys
            pairs.append(normalize(pair))
            writer.write(pairs[-1])
    part = Part(pairs=number)
    if is_sample:
        dropped = {HELD_OUT: number - len(pairs)}
        part = Part(pairs=number, kept=len(pairs), dropped=dropped)
    written = writer.entry({corpus.name: part})
    if corpus.leaves is not None:
        trees = paths.lines(folder, split, paths.TREES)
        write_lines(trees, map(str, corpus.trees()))
        digest = hashlib.sha256(trees.read_bytes()).hexdigest()
        written = written.replace(sha256={**written.sha256, paths.TREES: digest})
    return _HeldOut(written, pairs, keys)


def _write_train(
    folder: Path,
    corpora: Iterable[Parallel],
    text: Text,
    normalize: Callable[[Pair], Pair],
    held_out: Iterable[_HeldOut],
) -> Split:
    held_out = list(held_out)
    held_out_keys = {key for held in held_out for key in held.keys}
    seen: set[bytes] = set()
    labels: set[str] = set()
    parts: dict[str, Part] = {}
    with _open_split(folder, paths.TRAIN) as writer:
        for corpus in corpora:
            cleaner = Cleaner(text.cleaning, seen, held_out_keys)
            number = 0
            before = writer.pairs
            progress = tqdm(
                corpus.pairs(), corpus.name, unit=" pairs", unit_scale=True, disable=None
            )
            for number, (source, target) in enumerate(progress, start=1):
                try:
                    pair = cleaner.clean(source, target)
                except UnicodeDecodeError as error:
                    advice = "Convert the file, or turn on the cleaning rule invalid_utf8."
                    raise _not_utf8(corpus, number, source, advice) from error
                if pair is not None:
                    pair = normalize(pair)
                    writer.write(pair)
                    if text.labels is not None:
                        labels.add(pair[1])
                    for held in held_out:
                        held.record_overlap(pair)
            parts[corpus.name] = Part(
                pairs=number, kept=writer.pairs - before, dropped=cleaner.dropped
            )
    if writer.pairs == 0:
        drops = "; ".join(f"{name}: {part.dropped}" for name, part in parts.items())
        raise DataError(f"cleaning left no training pair ({drops}). Relax text.cleaning.")
    require_all(text.labels or (), labels)
    return writer.entry(parts)


def _not_utf8(corpus: Parallel, number: int, source: bytes, advice: str) -> DataError:
    in_source = source.decode("utf-8", "ignore").encode() != source
    place = corpus.place(corpus.languages[0 if in_source else 1])
    return DataError(f"{place}, line {number}: not UTF-8. {advice}")
