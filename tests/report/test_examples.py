from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aiayn.errors import DataError
from aiayn.report.evidence import gather
from aiayn.report.examples import (
    Groups,
    TranslatedSet,
    Words,
    choose_examples,
    examples,
    word_differences,
)
from aiayn.results.text import RAW

Project = Callable[..., Path]
SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "<b>"]), max_size=8).map(" ".join)


@pytest.fixture
def folder(
    project: Project, toy: dict[str, Any], scores_file: Callable[..., dict[str, Any]]
) -> Path:
    return project(
        toy, {run: scores_file(run, "toy-test", 40, 50.0) for run in ("en-de.base", "en-de.big")}
    )


def read(folder: Path) -> list[tuple[TranslatedSet, Groups]]:
    return list(examples(gather(folder)))


def test_lines_stay_together_and_are_spread_over_the_set(folder: Path) -> None:
    (about, german), (_, french) = read(folder)
    assert (about.task, about.target_language, about.corpus) == ("en-de", "de", "toy-test")
    spaced = german["Evenly spaced lines"]
    assert [example.number for example in spaced] == [6, 16, 26, 36]
    for example in spaced:
        assert example.source == f"source en {example.number}"
        assert example.reference == f"target de {example.number}"
        assert [item.runs for item in example.leading] == [("en-de.base",), ("en-de.big",)]
        assert not example.variations
    assert list(french) == ["Evenly spaced lines"]
    assert all(not example.leading for example in french["Evenly spaced lines"])


def chosen(references: list[str], **hypotheses: list[str]) -> Groups:
    count = len(references)
    test_set = TranslatedSet("t", "en", "de", "c", RAW, ["source"] * count, references, hypotheses)
    return choose_examples(test_set, list(hypotheses)[:2])


def test_worst_and_best_are_those_of_the_first_run_by_chrf() -> None:
    references = [f"the words of sentence number {n}" for n in range(10)]
    good = list(references)
    good[3], good[7] = "zzzz qqqq", "the words of"
    references[5] = good[5] = "the longest of all of the sentences that are here"
    found = chosen(references, good=good, bad=["x"] * 10)
    assert [example.number for example in found["Worst of good"]][:2] == [4, 8]
    best = found["Best of good, the longest first"]
    assert best[0].number == 6
    assert all(example.leading[0].is_reference for example in best)
    assert best[0].leading[0].chrf == pytest.approx(100)


def test_equal_outputs_share_an_entry_and_variations_are_separate() -> None:
    runs = {"a": ["x y"], "b": ["x y"], "c": ["x z"], "d": ["x z"], "e": ["x y"]}
    ((example,), *_) = chosen(["x y"], **runs).values()
    assert [item.runs for item in example.leading] == [("a", "b")]
    assert [item.runs for item in example.variations] == [("c", "d"), ("e",)]


def test_only_a_newline_separates_lines(folder: Path) -> None:
    path = folder / "outputs/en-de.base/test.hypotheses"
    path.write_bytes("".join(f"a\u2028b\x85c\x0bd {n}\n" for n in range(1, 41)).encode())
    lines = read(folder)[0][0].hypotheses["en-de.base"]
    assert (len(lines), lines[5]) == (40, "a\u2028b\x85c\x0bd 6")


def test_all_of_a_small_set_is_shown(folder: Path) -> None:
    for path in (*folder.glob("data/text/*/test.*"), *folder.glob("outputs/*/test.*")):
        path.write_text("one\n\n", encoding="utf-8")
    shown = read(folder)[0][1]["Evenly spaced lines"]
    assert [example.number for example in shown] == [1, 2]


def test_unequal_line_counts_are_a_one_line_error(folder: Path) -> None:
    (folder / "outputs/en-de.big/test.hypotheses").write_text("one line\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"test\.source has 40 lines and .*en-de\.big/test\.hypotheses has 1\."
    ) as caught:
        read(folder)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8_are_a_one_line_error(folder: Path) -> None:
    (folder / "data/text/en-fr/test.target").write_bytes(b"\xff\n" * 40)
    with pytest.raises(DataError, match=r"en-fr/test\.target: line 1 is not UTF-8"):
        read(folder)


def test_without_text_there_are_no_examples(folder: Path) -> None:
    (folder / "data/text/en-de/test.source").unlink()
    assert [test_set.task for test_set, _ in read(folder)] == ["en-fr"]


def test_trees_are_no_examples(folder: Path) -> None:
    path = folder / "params.yaml"
    params = yaml.load(path.read_text(), yaml.CSafeLoader)
    task = params["tasks"]["en-fr"]
    task["kind"] = "parsing"
    task["text"] |= {"target": "tree", "leaves": "tags"}
    task["bpe"]["symbols"] = "target"
    bank = {"treebank": {"folder": "AIAYN_TREEBANK", "files": ["*.mrg"]}}
    corpora = (*task["text"]["train"], task["text"]["dev"], *task["text"]["tests"].values())
    params["catalogue"]["corpora"] |= {f"trees-of-{name}": bank for name in corpora}
    task["text"] |= {
        "train": [f"trees-of-{name}" for name in task["text"]["train"]],
        "dev": f"trees-of-{task['text']['dev']}",
        "tests": {split: f"trees-of-{name}" for split, name in task["text"]["tests"].items()},
    }
    path.write_text(yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper))
    assert [test_set.task for test_set, _ in read(folder)] == ["en-de"]


@given(SENTENCES, SENTENCES)
def test_both_sentences_can_be_recovered_from_their_differences(
    reference: str, hypothesis: str
) -> None:
    found = list(word_differences(reference, hypothesis))
    for sentence, other_mark in ((hypothesis, "missing"), (reference, "added")):
        assert " ".join(words.text for words in found if words.mark != other_mark) == sentence


@given(SENTENCES)
def test_a_sentence_does_not_differ_from_itself(sentence: str) -> None:
    assert all(words.mark == "same" for words in word_differences(sentence, sentence))


def test_a_changed_word_is_missing_and_then_added() -> None:
    assert list(word_differences("der rote Hund schläft", "der große Hund schläft")) == [
        Words("der", "same"),
        Words("rote", "missing"),
        Words("große", "added"),
        Words("Hund schläft", "same"),
    ]
