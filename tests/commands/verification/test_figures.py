"""How a published figure and the same figure here compare."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.commands.verification.figures import Figure, NoReproductionError, compare
from aiayn.commands.verification.verification import ANOTHER_MACHINE, to_lines, verify

Side = Callable[..., Path]


def by_name(found: tuple[Figure, ...]) -> dict[str, tuple[str, str]]:
    return {figure.figure: (str(figure.verdict), figure.why) for figure in found}


def verified(published: Path, here: Path) -> dict[str, tuple[str, str]]:
    shutil.copy(Path(__file__).parents[3] / "dvc.yaml", here)
    return by_name(verify(published, here).figures)


def set_bleu(value: float, **changes: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        data["splits"]["test"]["bleu"] |= {"value": value, **changes}

    return change


def test_the_same_everywhere(side: Side) -> None:
    found = compare(side("published"), side("here"))
    assert by_name(found) == dict.fromkeys(
        ("dev perplexity", "dev bleu", "test bleu"), ("same", "")
    )
    assert [figure.published for figure in found] == [8.5, 20.0, 25.0]
    assert [figure.here for figure in found] == [8.5, 20.0, 25.0]


@pytest.mark.parametrize(
    ("here", "verdict"),
    [(25.01, "inside"), (24.0, "inside"), (26.0, "inside"), (26.01, "outside"), (23.99, "outside")],
)
def test_inside_and_outside_of_the_published_interval(
    side: Side, here: float, verdict: str
) -> None:
    found = compare(side("published"), side("here", set_bleu(here, low=0, high=100)))
    assert by_name(found)["test bleu"] == (verdict, "")
    assert by_name(found)["dev bleu"] == ("same", "")


def test_a_score_without_an_interval_has_moved(side: Side) -> None:
    published = side("published", lambda data: data["splits"]["test"]["bleu"].pop("low"))
    assert by_name(compare(published, side("here", set_bleu(25.5))))["test bleu"] == ("moved", "")


def test_another_protocol_is_not_compared(side: Side) -> None:
    found = by_name(compare(side("published"), side("here", set_bleu(25.0, signature="t"))))
    assert found["test bleu"] == ("not comparable", "another protocol: t, published s")


def test_other_sentences_are_not_compared(side: Side) -> None:
    def change_sentences(data: Any) -> None:
        data["splits"]["dev"]["set"]["sha256"] = {"source": "x"}

    found = by_name(compare(side("published"), side("here", change_sentences)))
    assert found["dev bleu"] == found["dev perplexity"] == ("not comparable", "other sentences")
    assert found["test bleu"] == ("same", "")


def test_perplexity_over_other_pieces_is_not_compared(side: Side) -> None:
    def change_vocabulary(stages: Any) -> None:
        stages["train_bpe@en-de"]["outs"][0]["md5"] = "b2.dir"

    found = by_name(compare(side("published"), side("here", stages=change_vocabulary)))
    assert found["dev perplexity"] == ("not comparable", "another vocabulary")
    assert found["dev bleu"] == ("same", "")


@pytest.mark.parametrize(("factor", "verdict"), [(0.99, "inside"), (10, "outside")])
def test_perplexity_of_another_training(side: Side, factor: float, verdict: str) -> None:
    found = compare(side("published"), side("here", perplexity=8.5 * factor))
    assert by_name(found)["dev perplexity"] == (verdict, "")


def test_what_is_not_here_is_missing(side: Side) -> None:
    published, here = side("published"), side("here")
    (here / "scores/en-de.base.json").unlink()
    assert {verdict for verdict, _ in by_name(compare(published, here)).values()} == {
        "missing", "same",
    }  # fmt: skip


def test_a_folder_that_is_no_reproduction_is_one_line(side: Side, tmp_path: Path) -> None:
    """It names the reproduction beside it that was meant."""
    side("published")
    with pytest.raises(NoReproductionError) as refused:
        compare(tmp_path / "publishd", side("here"))
    expected = f"{tmp_path / 'publishd'}: not a reproduction, it has no scores/. "
    assert str(refused.value) == f"{expected}Did you mean published?"


def test_the_columns_have_headings(side: Side) -> None:
    published, here = side("published"), side("here", set_bleu(25.01))
    shutil.copy(Path(__file__).parents[3] / "dvc.yaml", here)
    heading, *lines = to_lines(verify(published, here))
    (line,) = (line for line in lines if " test bleu " in line)
    for name, value in (("published", "25.00"), ("here", "25.01")):
        assert heading.index(name) + len(name) == line.index(value) + len(value)
    for name, value in (("expected here", "24.00 to 26.00"), ("verdict", "inside")):
        assert heading.index(name) == line.index(value)


@pytest.mark.parametrize(
    ("metadata", "verdict"),
    [
        ({"instruction_set": "AVX2"}, ("moved", ANOTHER_MACHINE)),
        ({"threads": 2, "versions": {"torch": "2.11.0"}}, ("moved", ANOTHER_MACHINE)),
        ({}, ("outside", "")),
    ],
)
def test_sentence_intervals_do_not_apply_to_training_on_another_machine(
    side: Side, metadata: dict[str, Any], verdict: tuple[str, str]
) -> None:
    published, here = side("published"), side("here", set_bleu(20.0), **metadata)
    assert verified(published, here)["test bleu"] == verdict


def test_another_machine_does_not_excuse_a_much_lower_score(side: Side) -> None:
    published, here = side("published"), side("here", set_bleu(10.0), instruction_set="AVX2")
    assert verified(published, here)["test bleu"] == ("outside", "")


def test_another_machine_excuses_neither_code_nor_perplexity(side: Side) -> None:
    def change_code(stages: Any) -> None:
        stages["train@en-de.base"]["deps"][0]["md5"] = "other.dir"

    published = side("published")
    here = side("here", set_bleu(20.0), change_code, instruction_set="AVX2")
    assert verified(published, here)["test bleu"] == ("outside", "")
    here = side("other", perplexity=20.0, instruction_set="AVX2")
    assert verified(published, here)["dev perplexity"] == ("outside", "")
