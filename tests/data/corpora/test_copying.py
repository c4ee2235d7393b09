"""Sequences to copy: as declared, and none of the training set in the held-out sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from aiayn import config
from aiayn.config import Corpus, Sequences
from aiayn.config.compose import write_params
from aiayn.data.corpora.copying import sequences
from aiayn.data.corpora.reading import Parallel
from aiayn.errors import ConfigError, DataError

SPEC = Sequences(split="train", number=2000, symbols=4, shortest=2, longest=10, seed=1)


def test_distinct_sequences_of_the_declared_number_lengths_and_symbols() -> None:
    drawn = [sequence.split(" ") for sequence in sequences(SPEC)]
    assert len({tuple(sequence) for sequence in drawn}) == len(drawn) == SPEC.number
    assert {len(sequence) for sequence in drawn} == set(range(2, 11))
    assert {symbol for sequence in drawn for symbol in sequence} == set("abcd")


def test_lengths_and_symbols_are_equally_likely() -> None:
    """Counts of 20,000 draws, four standard deviations either way: 81 of a binomial's 2,500."""
    spec = SPEC.replace(number=20_000, symbols=16, shortest=8, longest=15)
    drawn = [sequence.split(" ") for sequence in sequences(spec)]
    lengths = Counter(map(len, drawn))
    assert all(
        abs(count - 2500) < 4 * (20_000 * 1 / 8 * 7 / 8) ** 0.5 for count in lengths.values()
    )
    symbols = Counter(symbol for sequence in drawn for symbol in sequence)
    total = symbols.total()
    assert len(symbols) == 16
    assert all(
        abs(count - total / 16) < 4 * (total * 1 / 16 * 15 / 16) ** 0.5
        for count in symbols.values()
    )


def test_splits_share_no_sequence_with_any_seeds() -> None:
    splits = [
        set(sequences(SPEC.replace(split=split, seed=seed, number=200)))
        for seed, split in enumerate(("train", "dev", "test"))
    ]
    assert len(set.union(*splits)) == 600


def test_both_sides_of_a_pair_are_the_sequence() -> None:
    corpus = Corpus(sequences=SPEC.replace(number=3), pairs=3)
    pairs = list(Parallel("drawn", corpus, ("sequence", "copy"), {}).pairs())
    assert [source for source, _ in pairs] == [target for _, target in pairs]
    assert [source.decode() for source, _ in pairs] == [*sequences(SPEC.replace(number=3))]


def test_a_wrong_number_of_pairs_is_an_error_that_names_the_corpus() -> None:
    corpus = Corpus(sequences=SPEC.replace(number=3), pairs=4)
    with pytest.raises(DataError, match="corpus drawn: 3 pairs, but 4 are declared"):
        list(Parallel("drawn", corpus, ("sequence", "copy"), {}).pairs())


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"number": 0}, "greater than 0"),
        ({"symbols": 1}, "greater than or equal to 2"),
        ({"symbols": 27}, "less than or equal to 26"),
        ({"shortest": 0}, "greater than 0"),
        ({"shortest": 11}, "is 11, above longest, 10."),
        # 2^10 = 1,024 sequences, and 64 times 17 are more
        ({"symbols": 2, "number": 17}, r"is 17, too many: there are 2\^10 sequences"),
    ],
)
def test_invalid_sequences(changed: dict[str, int], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        SPEC.replace(**changed)


def test_the_largest_possible_number_of_sequences() -> None:
    spec = SPEC.replace(split="dev", symbols=2, shortest=10, number=16)
    assert len([*sequences(spec)]) == 16


def test_the_corpus_must_match_the_kind_of_task(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    (tmp_path / "conf").symlink_to(root / "conf")
    write_params(tmp_path, "copy")
    params = yaml.load((tmp_path / "params.yaml").read_text(), yaml.CSafeLoader)

    def error_message() -> str:
        with pytest.raises(ConfigError) as error:
            config.parse(yaml.dump(params, Dumper=yaml.CSafeDumper).encode())
        return str(error.value)

    params["tasks"]["copy"]["kind"] = "translation"
    assert error_message().endswith("reads sequences-train, whose sequences are for copying.")
    params["tasks"]["copy"]["kind"] = "copying"
    grammar = {"grammar": {"split": "train", "sentences": 9, "seed": 1}}
    params["catalogue"]["corpora"]["sequences-train"] = grammar
    assert error_message() == "tasks.copy.text needs sequences; sequences-train has none."
