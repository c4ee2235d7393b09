"""Encoding is lossless, independent of file names; vocabulary limits are reported."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Literal

import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

from aiayn import config
from aiayn.data.bpe import vocabulary as module
from aiayn.data.bpe.vocabulary import Bpe, train_bpe
from aiayn.data.tokens.special import END, PAD, START, UNK
from aiayn.errors import ConfigError, DataError

IDENTITY = config.Bpe(vocabulary=380, normalization="identity")

# U+2581 is sentencepiece's space; a newline ends a line
any_text = st.text(st.characters(codec="utf-8", exclude_characters="\n\u2581"))


@given(any_text)
@example("")
@example(" ")
@example("  two  spaces  ")
@example("\ttab and\x00nul")
@example("\r")
@example("👩‍👩‍👧 e\u0301 \u2028 \x85 \x0b")
@example("<s> </s> <unk> <pad> <0x41>")
def test_any_text_is_restored(bpe: Bpe, line: str) -> None:
    assert bpe.decode(bpe.encode([line])) == [line]


def test_the_one_character_that_is_not_restored(bpe: Bpe) -> None:
    assert bpe.decode(bpe.encode(["a\u2581b"])) == ["a b"]


@given(st.lists(st.text(" \t.aehot\u2581ß猫"), max_size=5))
@example(["", "  ", "the the  the "])
def test_cached_words_equal_sentencepieces(bpe: Bpe, model: Path, lines: list[str]) -> None:
    reference = sentencepiece.SentencePieceProcessor(model_file=str(model))
    assert bpe.encode(lines) == reference.encode(lines)
    assert bpe.encode(lines, end=True) == reference.encode(lines, add_eos=True)


def test_words_beyond_the_cache(model: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (text / "train.source").read_text().splitlines()
    expected = sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(lines)
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    assert Bpe(model).encode(lines) == expected


def test_special_pieces(bpe: Bpe, model: Path) -> None:
    reference = sentencepiece.SentencePieceProcessor(model_file=str(model))
    assert bpe.size == 380
    names = [reference.id_to_piece(n) for n in (PAD, UNK, START, END)]
    assert names == ["<pad>", "<unk>", "<s>", "</s>"]
    assert bpe.encode([""], end=True) == [[END]]
    dog = bpe.encode(["dog"])[0]
    assert bpe.decode([[START, *dog, END, PAD, PAD]]) == ["dog"]


def test_nfkc(text: Path, tmp_path: Path) -> None:
    spec = config.Bpe(vocabulary=380, normalization="nmt_nfkc")
    train_bpe([text / "train.source"], tmp_path / "bpe", spec)
    bpe = Bpe(tmp_path / "bpe" / "model.model")
    assert bpe.decode(bpe.encode([" the  ﬁrst\tdog "])) == ["the first dog"]


def test_symbols_of_the_target_are_one_piece_each(text: Path, tmp_path: Path) -> None:
    """Brackets with any label; the words of the source are not affected."""
    symbols = ["(S", "(NP", "(NN)", "(SBAR", "(,)", "($)", ")NP", ")S", ")SBAR"]
    (tmp_path / "target").write_text(" ".join(symbols) + "\n" + "(NP (NN) )NP\n")
    files = [text / "train.source", tmp_path / "target"]
    spec = config.Bpe(symbols="target", vocabulary=380, normalization="identity")
    train_bpe(files, tmp_path / "bpe", spec)
    bpe = Bpe(tmp_path / "bpe/model.model")
    (ids,) = bpe.encode([" ".join(symbols)])
    assert len(set(ids)) == len(ids) == len(symbols)
    lines = [
        " ".join(symbols),
        "(S (X )NP",
        " (NP)(S ( NP",
        *(text / "train.source").read_text().split("\n"),
    ]
    assert bpe.decode(bpe.encode(lines)) == lines


def test_brackets_of_the_target_are_one_piece_each_and_its_words_are_text(
    text: Path, tmp_path: Path
) -> None:
    brackets = ["(S", "(NP", "(SBAR", "(,", ")NP", ")S", ")SBAR", "),"]
    (tmp_path / "target").write_text(" ".join(brackets) + "\n(NP Unheard-of words )NP\n")
    files = [text / "train.source", tmp_path / "target"]
    spec = config.Bpe(symbols="brackets", vocabulary=380, normalization="identity")
    train_bpe(files, tmp_path / "bpe", spec)
    bpe = Bpe(tmp_path / "bpe/model.model")
    line = " ".join(brackets[:2]) + " Unheard-of words " + " ".join(brackets[2:])
    (ids,) = bpe.encode([line])
    (words,) = bpe.encode(["Unheard-of words"])
    assert len(words) > 2
    assert ids[2:-6] == words
    assert len({*ids[:2], *ids[-6:]}) == len(brackets)
    assert bpe.decode([ids]) == [line]


@pytest.mark.slow
def test_real_text_is_restored(multi30k: tuple[list[str], list[str]], multi30k_bpe: Bpe) -> None:
    for lines in multi30k:
        assert multi30k_bpe.decode(multi30k_bpe.encode(lines)) == lines


def test_vocabulary_table(bpe: Bpe, model: Path) -> None:
    table = (model.parent / "vocabulary.tsv").read_text().removesuffix("\n").split("\n")
    pieces = [line.split("\t") for line in table]
    assert len(pieces) == bpe.size
    assert all(len(piece) == 2 for piece in pieces)
    assert [piece for piece, _ in pieces[:4]] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert "▁the" in dict(pieces)
    assert "\\x85" in dict(pieces), "some programs end a line at it"


def test_the_same_text_in_other_files_gives_the_same_bytes(
    text: Path, model: Path, tmp_path: Path
) -> None:
    copies = []
    for side in ("source", "target"):
        copies.append(tmp_path / "another folder" / f"other name.{side}")
        copies[-1].parent.mkdir(exist_ok=True)
        copies[-1].write_bytes((text / f"train.{side}").read_bytes())
    train_bpe(copies, tmp_path / "bpe", IDENTITY)
    for name in ("model.model", "vocabulary.tsv"):
        assert (tmp_path / "bpe" / name).read_bytes() == (model.parent / name).read_bytes()


@pytest.mark.parametrize("normalization", ["identity", "nmt_nfkc"])
def test_word_counts_give_the_same_vocabulary_as_whole_lines(
    text: Path, tmp_path: Path, normalization: Literal["identity", "nmt_nfkc"]
) -> None:
    files = [text / f"train.{side}" for side in ("source", "target")]
    lines = [line.replace("\t", " ") for file in files for line in file.read_text().split("\n")]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=380,
        pad_id=PAD, unk_id=UNK, bos_id=START, eos_id=END, byte_fallback=True,
        character_coverage=module.CHARACTER_COVERAGE, normalization_rule_name=normalization,
        remove_extra_whitespaces=normalization != "identity", minloglevel=3,
    )  # fmt: skip
    train_bpe(files, tmp_path / "bpe", config.Bpe(vocabulary=380, normalization=normalization))
    table = Bpe.from_bytes(model.getvalue()).table()
    assert (tmp_path / "bpe/vocabulary.tsv").read_text() == table


def test_the_rarest_of_too_many_words_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "first", tmp_path / "second"]
    files[0].write_text(
        "aaa aaa bbb bbb xy\nxz\n"
    )  # five words: the two that occur once are dropped
    files[1].write_text("aaa bbb ccc ccc ccc\n")
    (tmp_path / "kept").write_text("aaa aaa aaa bbb bbb bbb ccc ccc ccc\n")
    spec = config.Bpe(vocabulary=266, normalization="identity")
    train_bpe([tmp_path / "kept"], tmp_path / "expected", spec)
    monkeypatch.setattr(module, "MOST_DISTINCT", 3)
    train_bpe(files, tmp_path / "got", spec)
    assert (tmp_path / "got/model.model").read_bytes() == (
        tmp_path / "expected/model.model"
    ).read_bytes()


def test_too_large_a_vocabulary(text: Path, tmp_path: Path) -> None:
    files = [text / "train.source"]
    with pytest.raises(
        ConfigError, match=r"vocabulary is 9999, too large .*at most \d+\.$"
    ) as error:
        train_bpe(files, tmp_path / "bpe", config.Bpe(vocabulary=9999, normalization="identity"))
    largest = int(re.findall(r"\d+", str(error.value))[-1])
    train_bpe(files, tmp_path / "bpe", config.Bpe(vocabulary=largest, normalization="identity"))
    before = (tmp_path / "bpe" / "model.model").read_bytes()
    with pytest.raises(ConfigError, match=f"use at most {largest}"):
        train_bpe(
            files, tmp_path / "bpe", config.Bpe(vocabulary=largest + 1, normalization="identity")
        )
    assert (tmp_path / "bpe" / "model.model").read_bytes() == before


def test_too_small_a_vocabulary(text: Path, tmp_path: Path) -> None:
    files = [text / "train.source"]
    with pytest.raises(
        ConfigError, match=r"vocabulary is 270, too small .*at least \d+\."
    ) as error:
        train_bpe(files, tmp_path / "bpe", config.Bpe(vocabulary=270, normalization="identity"))
    smallest = int(re.findall(r"at least (\d+)", str(error.value))[0])
    train_bpe(files, tmp_path / "bpe", config.Bpe(vocabulary=smallest, normalization="identity"))
    assert Bpe(tmp_path / "bpe" / "model.model").size == smallest


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_empty_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "train.source").write_bytes(content)
    with pytest.raises(DataError, match=r"train\.source: no text to learn a vocabulary from"):
        train_bpe([tmp_path / "train.source"], tmp_path / "bpe", IDENTITY)
    assert not (tmp_path / "bpe").exists()


def test_missing_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train\.source: does not exist.* dvc repro download"):
        train_bpe([tmp_path / "train.source"], tmp_path / "bpe", IDENTITY)


def test_missing_model(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"model\.model: does not exist.* dvc repro train_bpe"):
        Bpe(tmp_path / "model.model")


@pytest.mark.parametrize("damage", ["empty", "truncated", "text"])
def test_damaged_model(model: Path, tmp_path: Path, damage: str) -> None:
    content = model.read_bytes()
    damaged = {"empty": b"", "truncated": content[: len(content) // 2], "text": b"no model"}
    (tmp_path / "model.model").write_bytes(damaged[damage])
    with pytest.raises(DataError, match=r"model\.model: not a sentencepiece model"):
        Bpe(tmp_path / "model.model")
