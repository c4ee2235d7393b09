"""BLEU from sentence counts, compared with sacreBLEU's corpus score and paired bootstrap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sacrebleu import BLEU
from sacrebleu.significance import PairedTest, Result

from aiayn.errors import ScoreError
from aiayn.evaluation.sentences import corpus_bleu, count, paired_bootstrap, resample, signature
from aiayn.evaluation.translation_metrics import seeded, text_bleu
from aiayn.results.sentence_counts import Output, read, write
from aiayn.results.text import RAW

WORDS = ["der", "die", "ein", "Hund", "Mann", "läuft", "sieht", "heute", "im", "Park", ",", "."]
GENERATOR = np.random.default_rng(4)
REFERENCES = [" ".join(GENERATOR.choice(WORDS, size)) for size in GENERATOR.integers(1, 12, 60)]
FORMS = [RAW, "lowercased_tokens"]


def corrupted(share: float) -> list[str]:
    return [
        " ".join(word if GENERATOR.random() > share else "Esel" for word in line.split()[:9])
        for line in REFERENCES
    ]


FIRST, SECOND = corrupted(0.1), ["", *corrupted(0.25)[1:]]


@pytest.mark.parametrize("form", FORMS)
def test_counts_give_sacrebleus_corpus_score(form: str) -> None:
    for hypotheses in (FIRST, SECOND, REFERENCES, [""] * len(REFERENCES)):
        expected = text_bleu(form).corpus_score(hypotheses, [REFERENCES]).score
        assert corpus_bleu(count(hypotheses, REFERENCES, form), form) == pytest.approx(expected)


def test_counts_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Names that look like numbers or missing values stay names."""
    counts = {
        Output(run, split, "last"): count(FIRST[:n], REFERENCES[:n], RAW)
        for n, (run, split) in enumerate([("NA", "1.1"), ("NA", "1.10"), ("7", "null")], start=1)
    }
    write(tmp_path / "sentences.csv.gz", counts)
    found = read(tmp_path / "sentences.csv.gz")
    assert [*found] == [*counts]
    assert all(np.array_equal(found[output], counts[output]) for output in counts)


@pytest.mark.parametrize("form", FORMS)
def test_the_paired_bootstrap_is_sacrebleus(form: str) -> None:
    first, second = (count(lines, REFERENCES, form) for lines in (FIRST, SECOND))
    found = paired_bootstrap(resample(first, form), resample(second, form))
    with seeded():
        _, results = PairedTest(
            [("first", FIRST), ("second", SECOND)], {"BLEU": text_bleu(form)}, [REFERENCES],
            test_type="bs", n_samples=1000,
        )()  # fmt: skip
    first_result, second_result = (
        result for result in results["BLEU"] if isinstance(result, Result)
    )
    assert found.difference == pytest.approx(second_result.score - first_result.score, abs=0.005)
    assert found.p_value == pytest.approx(second_result.p_value, abs=5e-5)


def test_no_difference_and_one_sentence_are_not_significant() -> None:
    same = resample(count(FIRST, REFERENCES, RAW), RAW)
    assert paired_bootstrap(same, same).p_value == 1
    first, second = (
        resample(count([line], ["ein Hund läuft im Park"], RAW), RAW)
        for line in ("ein Hund", "im Park")
    )
    assert paired_bootstrap(first, second).p_value == 1


def test_the_signature_is_that_of_the_score() -> None:
    assert set(signature(RAW).split("|")) >= {"nrefs:1", "case:mixed", "tok:13a", "smooth:exp"}
    metric = BLEU()
    metric.corpus_score(FIRST, [REFERENCES])
    assert signature(RAW) == str(metric.get_signature())


def test_counts_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "comparisons/sentences.csv.gz"
    counts = {
        Output("en-de.base", "dev", "last"): count(FIRST, REFERENCES, RAW),
        Output("en-de.base", "dev", "greedy"): count(SECOND, REFERENCES, RAW),
    }
    write(path, counts)
    first = path.read_bytes()
    found = read(path)
    assert list(found) == list(counts)
    assert all((found[output] == rows).all() for output, rows in counts.items())
    write(path, found)
    assert path.read_bytes() == first
    write(path, {})
    assert read(path) == {}


@pytest.mark.parametrize("content", [None, b"", b"no gzip"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "sentences.csv.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ScoreError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert str(error.value).endswith("Make it again: dvc repro -f compare.")
