"""The files written for a task, their manifest, and the previous ones kept after a failure."""

from __future__ import annotations

import hashlib
import json
import sys
import tracemalloc
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from aiayn.config import Corpus, Grammar, Sample, Text
from aiayn.data.corpora.archives import LINE_BYTES
from aiayn.data.corpora.assembly import assemble
from aiayn.errors import DataError


def assemble_task(workspace: Any, text: Text) -> dict[str, Any]:
    assemble(
        "en-de", text, workspace.catalogue, workspace.text, workspace.raw, str(workspace.mirror)
    )
    return json.loads((workspace.text / "manifest.json").read_bytes())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def lines(path: Path) -> list[str]:
    return path.read_bytes().decode().removesuffix("\n").split("\n")


def test_a_task_and_its_manifest(workspace: Any) -> None:
    workspace.add("one", b"a b \nsame\n\nc d e\n", b"x y\r\nsame\nz\nw\n")
    workspace.add("two", b"a b\nf\n", b"x y\ng\n", pairs=2)
    workspace.add("dev", b"f\na b\n\n a b\n", b"other\nx y\n\n\xc3\xa4\n")
    manifest = assemble_task(
        workspace, workspace.task("one", "two", empty=True, identical=True, duplicates=True)
    )

    assert lines(workspace.text / "train.source") == ["a b", "c d e", "f"]
    assert lines(workspace.text / "train.target") == ["x y", "w", "g"]
    # nothing is dropped from dev, not even empty or duplicate pairs
    assert lines(workspace.text / "dev.source") == ["f", "a b", "", "a b"]
    assert lines(workspace.text / "dev.target") == ["other", "x y", "", "ä"]

    train, dev = manifest["splits"]["train"], manifest["splits"]["dev"]
    assert train["corpora"] == {
        "one": {"pairs": 4, "kept": 2, "dropped": {"empty": 1, "identical": 1, "duplicates": 0}},
        "two": {"pairs": 2, "kept": 1, "dropped": {"empty": 0, "identical": 0, "duplicates": 1}},
    }
    assert (train["pairs"], train["words"]) == (3, {"source": 6, "target": 4})
    assert dev["corpora"] == {"dev": {"pairs": 4}}
    # "f", "a b" and " a b" are in train's source, "x y" in its target, one whole pair
    assert dev["overlap"] == {"source": 3, "target": 1, "pairs": 1}
    assert manifest["splits"]["test"]["overlap"] == {"source": 0, "target": 0, "pairs": 0}
    for split, entry in manifest["splits"].items():
        for side, digest in entry["sha256"].items():
            written = (workspace.text / f"{split}.{side}").read_bytes()
            assert digest == hashlib.sha256(written).hexdigest()
    assert manifest["downloads"]["one.en"] == {
        "url": "http://host/one.en",
        "checksum": workspace.catalogue.downloads["one.en"].checksum,
        "licence": "none",
        "bytes": None,
    }
    assert manifest["languages"] == {"source": "en", "target": "de"}


def test_the_same_bytes_from_another_mirror(workspace: Any) -> None:
    workspace.add("one", b"a\nb\n", b"c\nd\n")
    assemble_task(workspace, workspace.task("one", duplicates=True))
    first = contents(workspace.text)
    workspace.mirror = workspace.mirror.rename(workspace.mirror.with_name("elsewhere"))
    assemble_task(workspace, workspace.task("one", duplicates=True))
    assert contents(workspace.text) == first
    assert [path.name for path in workspace.text.parent.iterdir()] == ["en-de"]


BROKEN = {
    "unequal": (("one", b"a\nb\n", b"a\n"), "2 lines in"),
    "empty": (("one", b"", b""), "no line in"),
    "dev is Latin-1": (
        ("dev", b"fine\nna\xefve\n", b"gut\nnaiv\n"),
        "host/dev.en, line 2: not UTF-8. "
        "No line of a dev or test set is dropped: convert the file to UTF-8.",
    ),
    "a line of test never ends": (
        ("test", b"fine\nfine\n", b"gut\n" + b"\0" * (LINE_BYTES + 1)),
        f"host/test.de, line 2: longer than {LINE_BYTES} bytes. "
        "No line of a dev or test set is dropped: replace the file.",
    ),
    "train is Latin-1, rule off": (
        ("one", b"fine\nfine\nfine\n", b"gut\ngut\nsch\xf6n\n"),
        "host/one.de, line 3: not UTF-8. "
        "Convert the file, or turn on the cleaning rule invalid_utf8.",
    ),
    "nothing left": (
        ("one", b"same\n\n", b"same\nx\n"),
        "cleaning left no training pair (one: {'empty': 1, 'identical': 1}). Relax text.cleaning.",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_failure_leaves_the_previous_text(workspace: Any, case: str) -> None:
    workspace.add("one", b"a\n", b"b\n")
    text = workspace.task("one", empty=True, identical=True)
    assemble_task(workspace, text)
    before = contents(workspace.text)
    damaged_corpus, message = BROKEN[case]
    workspace.add(*damaged_corpus)
    with pytest.raises(DataError) as caught:
        assemble_task(workspace, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert contents(workspace.text) == before
    assert [path.name for path in workspace.text.parent.iterdir()] == ["en-de"]


def test_a_task_made_by_the_grammar(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def sentences(grammar: Grammar, languages: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for number in range(grammar.sentences):
            yield tuple(f"{language} {grammar.split} {number}ß" for language in languages)

    monkeypatch.setitem(
        sys.modules, "aiayn.data.corpora.grammar", types.SimpleNamespace(sentences=sentences)
    )
    splits: tuple[tuple[Literal["train", "dev", "test"], int], ...]
    splits = (("train", 3), ("dev", 2), ("test", 1))
    for split, count in splits:
        grammar = Grammar(split=split, sentences=count, seed=1)
        corpora = {**workspace.catalogue.corpora, split: Corpus(grammar=grammar)}
        workspace.catalogue = workspace.catalogue.replace(corpora=corpora)
    manifest = assemble_task(workspace, workspace.task("train", duplicates=True))
    assert lines(workspace.text / "train.source") == ["en train 0ß", "en train 1ß", "en train 2ß"]
    assert lines(workspace.text / "dev.target") == ["de dev 0ß", "de dev 1ß"]
    assert manifest["downloads"] == {}


def test_latin1_in_train_is_dropped_and_counted(workspace: Any) -> None:
    workspace.add("one", b"a\nna\xefve\n", b"b\nnaiv\n")
    manifest = assemble_task(workspace, workspace.task("one", invalid_utf8=True))
    assert manifest["splits"]["train"]["corpora"]["one"]["dropped"] == {"invalid_utf8": 1}


def test_a_line_of_train_that_never_ends_is_dropped_and_counted(workspace: Any) -> None:
    workspace.add("one", b"a\n" + b"x" * (LINE_BYTES + 1) + b"\nc\n", b"b\nx\nd\n")
    manifest = assemble_task(workspace, workspace.task("one"))
    assert manifest["splits"]["train"]["corpora"]["one"] == {
        "pairs": 3, "kept": 2, "dropped": {"too_long": 1},
    }  # fmt: skip
    assert lines(workspace.text / "train.source") == ["a", "c"]


def test_training_pairs_that_share_a_side_with_a_held_out_set_are_dropped(workspace: Any) -> None:
    workspace.add(
        "one",
        b"A dev sentence!\nnew\nA TEST sentence\nnewer\n",
        b"x\nein  Satz.\ny\nnoch ein Test\n",
    )
    manifest = assemble_task(workspace, workspace.task("one", held_out=True))
    assert lines(workspace.text / "train.source") == ["newer"]
    assert manifest["cleaning"]["held_out"] is True
    dropped = manifest["splits"]["train"]["corpora"]["one"]["dropped"]
    assert dropped == {"held_out": 3}
    # a rule that is off is left out, so that older manifests stay valid
    assert "held_out" not in assemble_task(workspace, workspace.task("one"))["cleaning"]


def test_a_sampled_dev_set_excludes_the_test_set(workspace: Any) -> None:
    english = [b"sentence %d" % number for number in range(40)]
    workspace.add("one", b"\n".join(english), b"\n".join(s.replace(b"s", b"S") for s in english))
    corpus = workspace.catalogue.corpora["one"]
    half = Sample(by="en", fold=0, of=2, seed=1)
    corpora = {**workspace.catalogue.corpora, "dev": corpus.replace(sample=half)}
    workspace.catalogue = workspace.catalogue.replace(corpora=corpora)
    text = workspace.task("one", held_out=True)
    drawn_pairs = assemble_task(workspace, text)["splits"]["dev"]["pairs"]
    first = lines(workspace.text / "dev.source")[0]

    workspace.add("test", f"x\n{first.upper()}.\n".encode(), b"x\nein Test\n")
    splits = assemble_task(workspace, text)["splits"]
    assert splits["dev"]["corpora"]["dev"] == {
        "pairs": drawn_pairs, "kept": drawn_pairs - 1, "dropped": {"held_out": 1},
    }  # fmt: skip
    assert first not in lines(workspace.text / "dev.source")
    # the training text loses what is held out, including what the dev set left out
    assert splits["train"]["pairs"] == 40 - drawn_pairs
    assert set(splits["dev"]["overlap"].values()) == {0}


def test_a_byte_order_mark_is_removed(workspace: Any) -> None:
    workspace.add("one", b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", b"\xef\xbb\xbfc\r\nd\r\n")
    assemble_task(workspace, workspace.task("one"))
    assert lines(workspace.text / "train.source") == [
        "a",
        "\ufeffb",
    ]  # only a leading one is a byte order mark
    assert lines(workspace.text / "train.target") == ["c", "d"]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_corpus(workspace: Any) -> None:
    text = workspace.task("one", empty=True, max_words=99, max_ratio=9, duplicates=True)
    peaks = []
    for pairs in (4_000, 16_000):
        side = b"".join(b"%09d %s\n" % (n, b"x" * 500) for n in range(pairs))
        workspace.add("one", side, side)
        del side
        tracemalloc.start()
        assemble_task(workspace, text)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # for 12,000 more pairs, or 12 MB of text, only a digest each is stored
    assert peaks[1] - peaks[0] < 12_000 * 150


def test_a_form_applies_to_every_split_and_is_in_the_manifest(workspace: Any) -> None:
    workspace.add(
        "one",
        b"A Dog, asleep.\nTom's\n",
        "Ein Hund schl\u00e4ft.\nToms \u201eHaus\u201c\n".encode(),
    )
    workspace.add("test", b"A dog, asleep.\n", b"K\xc3\xb6ter!\n")
    text = workspace.task("one").replace(form="lowercased_tokens")
    assemble(
        "en-de", text, workspace.catalogue, workspace.text, workspace.raw, str(workspace.mirror)
    )
    written = {path.name: path.read_text(encoding="utf-8") for path in workspace.text.iterdir()}
    assert written["train.source"] == "a dog , asleep .\ntom &apos;s\n"
    assert written["train.target"] == "ein hund schl\u00e4ft .\ntoms &quot; haus &quot;\n"
    assert written["test.source"] == "a dog , asleep .\n"
    assert written["test.target"] == "k\u00f6ter !\n"
    manifest = json.loads(written["manifest.json"])
    assert manifest["form"] == "lowercased_tokens"
    assert manifest["splits"]["train"]["words"] == {"source": 7, "target": 8}
    # what is the same only in this form is an overlap too
    assert manifest["splits"]["test"]["overlap"] == {"source": 1, "target": 0, "pairs": 0}
