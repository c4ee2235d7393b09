"""Reading the GENIA treebank's XML as trees in the style of the Penn Treebank.

    <cons cat="PP"><tok cat="IN">of</tok> <cons cat="NP"><tok cat="NN">HIV-1</tok></cons></cons>

Null elements and constituents without words are removed, and so are roles, coordination and
reference marks. Tags of punctuation and brackets are renamed as in the Penn Treebank. On McClosky's
dev and test sets the result equals his trees below the node (S1 (S ...)) that he adds, except that
his have unresolved entities such as &lt; and lack most closing quotation marks
(tests/data/corpora/test_genia.py counts both).

Untrusted input is safe: expat reads no external entities without a handler for them, and entity
declarations, which could expand without bound, are rejected.

Source: GENIA corpus 1.0, GENIA_tree.dtd; McClosky's division, mclosky/ORIGINAL_README.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from aiayn.data.trees.tree import Bracket, Tree
from aiayn.errors import DataError

TAGS = {
    "COLON": ":", "COMMA": ",", "LQT": "``", "LRB": "-LRB-", "PERIOD": ".", "PRPP": "PRP$",
    "RQT": "''", "RRB": "-RRB-", "WPP": "WP$",
}  # fmt: skip
BRACKETS = str.maketrans(
    {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
)
QUOTES = ("``", "''")


def read_genia(xml: bytes, name: str) -> Iterator[Tree]:
    """The trees of an abstract, in order: one for each <sentence>.

    Args:
        name: the file's name in messages.
    Raises:
        DataError: it is not XML, an entity is declared, or a word or constituent is incomplete; the
            message has the line.
    """
    reader = _Reader(name)
    try:
        reader.parser.Parse(xml, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise DataError(
            f"{name}, line {error.lineno}: not XML ({reason}). Replace it with an intact copy."
        ) from error
    yield from reader.trees


class _Reader:
    """The state of the parser; finished trees are in `trees`."""

    def __init__(self, name: str) -> None:
        self.trees: list[Tree] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.EntityDeclHandler = self._entity
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._name = name
        self._words: list[str] = []
        self._tags: list[str] = []
        self._brackets: list[Bracket] = []
        self._opened: list[int] = []  # indices of open brackets, outermost first
        self._in_sentence = False
        self._word: str | None = None  # of the open <tok>

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sentence":
            self._require(not self._in_sentence, "a <sentence> within a <sentence>")
            self._in_sentence = True
            self._words, self._tags, self._brackets = [], [], []
        elif self._in_sentence:
            self._require(name in ("cons", "tok"), f"<{name}> within a <sentence>")
            self._require(self._word is None, f"<{name}> within a <tok>")
            self._require("cat" in attributes, f"<{name}> without the attribute cat")
            label = attributes["cat"]
            if name == "tok":
                self._word = ""
                self._tags.append(TAGS.get(label, label))
            else:
                self._opened.append(len(self._brackets))
                self._brackets.append(Bracket(label, len(self._words), len(self._words)))

    def _text(self, text: str) -> None:
        if self._word is not None:
            self._word += text
        else:
            self._require(
                not self._in_sentence or not text.strip(), f"{text.strip()!r} outside of a <tok>"
            )

    def _end(self, name: str) -> None:
        if name == "tok" and self._word is not None:
            word = "".join(self._word.split())  # "T- cell" is one word of the treebank
            self._require(bool(word), "a <tok> without a word")
            tag = self._tags[-1]
            self._words.append(tag if word == '"' and tag in QUOTES else word.translate(BRACKETS))
            self._word = None
        elif name == "cons" and self._opened:
            number = self._opened.pop()
            self._brackets[number] = self._brackets[number]._replace(end=len(self._words))
        elif name == "sentence":
            kept = tuple(b for b in self._brackets if b.start < b.end)
            self.trees.append(Tree(tuple(self._words), tuple(self._tags), kept))
            self._in_sentence = False

    def _entity(self, name: str, *_: object) -> None:
        self._require(False, f"declares the entity {name!r}, which is not allowed")

    def _require(self, holds: bool, problem: str) -> None:
        if not holds:
            line = self.parser.CurrentLineNumber
            raise DataError(f"{self._name}, line {line}: {problem}. Correct the file.")
