"""Byte-pair encoding with a joint vocabulary for both languages of a task (section 5.1)."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import sentencepiece

from aiayn.config import Bpe as BpeSpec
from aiayn.data.tokens.special import END, PAD, START, UNK
from aiayn.errors import AiaynError, ConfigError, DataError
from aiayn.files import replaced_folder
from aiayn.results import paths

# a distinct word takes up to 0.8 kB, mostly in sentencepiece: 3 GB in total
MOST_DISTINCT = 4_000_000
# crawled text has thousands of very rare characters; they are encoded as bytes
CHARACTER_COVERAGE = 0.99999
# longer than any line of the corpora; sentencepiece would skip longer ones
MAX_LINE_BYTES = 1 << 20
# words cached while encoding, about 0.2 kB each; frequent ones come early
MOST_WORDS = 1 << 19


def train_bpe(files: Sequence[Path], out: Path, spec: BpeSpec) -> None:
    """Learn a joint vocabulary; write model.model and vocabulary.tsv (piece, score) to `out`.

    Characters without a piece are encoded as byte pieces, so no text is lost. The bytes of the
    model depend only on the text, the spec and the version of sentencepiece, not on file names or
    processors. sentencepiece gets words with their counts: no piece contains an inner space, so the
    result is the same as for whole lines, with memory proportional to the number of distinct words.
    A tab, which separates a word from its count, is treated as a space; it is encoded as a byte.

    Args:
        files: text of both languages, the target's last, UTF-8, one sentence per line.
        out: folder, replaced as a whole.
        spec: number of pieces, including special and byte pieces; normalization rule; which words
            of the target are one piece each, such as the symbols of a linearized tree.
    Raises:
        ConfigError: the vocabulary is too large or too small for this text.
        DataError: a file is missing, or there is no text.
    Reference: Sennrich, Haddow and Birch 2016, as implemented by sentencepiece.
    """
    model = io.BytesIO()
    counts = _count_words(files)
    try:
        sentencepiece.SentencePieceTrainer.train(
            # an iterator and a writer, because file names would become part of the model
            sentence_iterator=(b"%s\t%d" % counted for counted in counts.items()),
            input_format="tsv",
            model_writer=model,
            model_type="bpe",
            vocab_size=spec.vocabulary,
            pad_id=PAD,
            unk_id=UNK,
            bos_id=START,
            eos_id=END,
            byte_fallback=True,
            character_coverage=CHARACTER_COVERAGE,
            normalization_rule_name=spec.normalization,
            remove_extra_whitespaces=spec.normalization != "identity",
            max_sentence_length=MAX_LINE_BYTES,
            user_defined_symbols=_symbols(files[-1], spec) if spec.symbols else [],
            minloglevel=3,
        )
    except RuntimeError as error:
        raise _explained(error, spec.vocabulary, files) from error
    with replaced_folder(out) as folder:
        paths.bpe_model(folder).write_bytes(model.getvalue())
        paths.pieces(folder).write_bytes(Bpe.from_bytes(model.getvalue()).table().encode())


class Bpe:
    """A trained vocabulary. With the normalization rule "identity", decode(encode(text)) == text
    for any text without newline and without U+2581, sentencepiece's symbol for the space."""

    def __init__(self, path: Path) -> None:
        """Load the model file at `path`.

        Raises:
            DataError: it is missing or damaged.
        """
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise DataError(f"{path}: does not exist. Make it: dvc repro train_bpe") from error
        try:
            self._load(content)
        except RuntimeError as error:
            raise DataError(
                f"{path}: not a sentencepiece model. Make it again: dvc repro train_bpe"
            ) from error

    @classmethod
    def from_bytes(cls, content: bytes) -> Bpe:
        """From the content of a model file. Raises RuntimeError if it is damaged."""
        bpe = cls.__new__(cls)
        bpe._load(content)
        return bpe

    def _load(self, content: bytes) -> None:
        if not content:  # sentencepiece would treat it as "no model yet" and crash later
            raise RuntimeError("empty")
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=content)
        # rules other than "identity" may join, drop or change words, as in this text
        keeps_words = self._processor.normalize(" ﬁ  ﬁ ") == "▁▁ﬁ▁▁ﬁ▁"
        self._words = _Words(self._processor) if keeps_words else None

    @property
    def size(self) -> int:
        """Number of pieces; ids are below it."""
        return int(self._processor.get_piece_size())

    def encode(self, lines: Sequence[str], *, end: bool = False) -> list[list[int]]:
        """Ids of each line, followed by END if `end`; an empty line has no other ids."""
        if self._words is None:
            ids: list[list[int]] = self._processor.encode(list(lines), add_eos=end, num_threads=1)
            return ids
        look_up, tail = self._words.__getitem__, (END,) if end else ()
        return [
            [*chain.from_iterable(map(look_up, line.split(" "))), *tail] if line else [*tail]
            for line in lines
        ]

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        """Text of each sequence; padding, start and end symbols are ignored."""
        lines: list[str] = self._processor.decode([list(line) for line in ids], num_threads=1)
        return lines

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each piece: U+2581 for a space, control characters as Python escapes."""
        texts = (self._processor.id_to_piece(n) for n in ids)
        return [text if text.isprintable() else repr(text)[1:-1] for text in texts]

    def table(self) -> str:
        """A line for each piece: its text as in `pieces`, a tab, and its score."""
        ids = range(self.size)
        return "".join(
            f"{piece}\t{self._processor.get_score(n):g}\n"
            for n, piece in zip(ids, self.pieces(ids), strict=True)
        )


class _Words(dict[str, tuple[int, ...]]):
    """A cache of the ids of words. No piece contains an inner space, so a line's ids are the
    concatenation of its words' ids; the lookup takes a quarter of the time of encoding."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        # the empty word between two spaces: the piece of the second space
        super().__init__({"": tuple(processor.encode(" ")[:1])})
        self._processor = processor

    def __missing__(self, word: str) -> tuple[int, ...]:
        ids = tuple(self._processor.encode(word))
        if len(self) < MOST_WORDS:
            self[word] = ids
        return ids


def _count_words(files: Sequence[Path]) -> dict[bytes, int]:
    """The count of each word in the files. Beyond `MOST_DISTINCT` words, the rarest so far are
    dropped (lossy counting, Manku and Motwani 2002)."""
    counts: Counter[bytes] = Counter()
    dropped = 0
    for path in files:
        try:
            with path.open("rb") as file:
                for line in file:
                    counts.update(line.rstrip(b"\n").replace(b"\t", b" ").split(b" "))
                    if len(counts) > MOST_DISTINCT:
                        dropped += 1
                        counts = Counter({word: n for word, n in counts.items() if n > dropped})
        except FileNotFoundError as error:
            raise DataError(f"{path}: does not exist. Make it: dvc repro download") from error
    counts.pop(b"", None)
    return counts


def _symbols(path: Path, spec: BpeSpec) -> list[str]:
    """Every word of a file, or every one that begins with a bracket, as a piece with a leading
    space."""
    with path.open(encoding="utf-8", newline="\n") as file:
        words = {word for line in file for word in line.rstrip("\n").split(" ")} - {""}
    if spec.symbols == "brackets":
        words = {word for word in words if word[0] in "()"}
    return [f"▁{word}" for word in sorted(words)]


def _explained(error: RuntimeError, vocabulary: int, files: Sequence[Path]) -> AiaynError:
    """The error for a sentencepiece error, with the limit that it names."""
    names, message = " and ".join(map(str, files)), " ".join(str(error).split())
    if "sentences_.empty()" in message:
        return DataError(f"{names}: no text to learn a vocabulary from. Run: dvc repro -f download")
    too = f"bpe.vocabulary is {vocabulary}, too"
    if found := re.search(r"Vocabulary size too high.* value <= (\d+)", message):
        return ConfigError(f"{too} large for the text of {names}: use at most {found[1]}.")
    if found := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
        return ConfigError(f"{too} small for the text of {names}: use at least {found[1]}.")
    return DataError(f"{names}: sentencepiece learned no vocabulary from it: {message}")
