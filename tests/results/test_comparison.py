"""The comparison's file: what is written is read back, and damage is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiayn.errors import ScoreError
from aiayn.results import paths
from aiayn.results.comparison import (
    Comparison,
    DecodingModes,
    Effect,
    Finding,
    Measure,
    Seed,
    Sentences,
    Variation,
    read,
    write,
)
from aiayn.results.scores import TestSet
from aiayn.results.text import Part

GOLDEN = Path(__file__).with_name("golden") / paths.TABLE_3
COMPARISON = Comparison(
    task="en-de",
    base="brief",
    split="dev",
    test_set=TestSet(corpora={"demo-dev": Part(pairs=500)}, pairs=500, sha256={"target": "0" * 64}),
    signature="nrefs:1|tok:13a",
    models={
        "brief": Variation(
            perplexity=Measure(mean=4.5, sd=0.5),
            bleu=Measure(mean=24.0, sd=4.25),
            seeds={
                "1": Seed(run="en-de.brief", perplexity=4.25, bleu=27.0),
                "2": Seed(run="en-de.brief-s2", perplexity=4.75, bleu=21.0),
            },
        ),
        "A_h1": Variation(
            perplexity=Measure(
                mean=9.0,
                effect=Effect(
                    value=2.0, low=1.5, high=2.5, p_value=0.001, corrected=0.002, count=5
                ),
                claim="higher",
                outcome="higher",
            ),
            bleu=Measure(
                mean=23.5,
                effect=Effect(value=-0.5, low=-4.0, high=3.0, p_value=0.75, corrected=1.0, count=5),
                claim="lower",
            ),
            seeds={
                "1": Seed(
                    run="en-de.A_h1",
                    perplexity=9.0,
                    bleu=23.5,
                    sentences=Sentences(difference=-3.5, p_value=0.001),
                )
            },
        ),
    },
    modes={"en-de.base": DecodingModes(last=88.5, averaged=89.0, greedy=88.0)},
    findings={
        "one_head": Finding(
            verdict="undecided",
            effect=Effect(value=-0.5, low=-4.0, high=3.0, p_value=0.75, corrected=1.0, count=5),
        ),
        "big": Finding(verdict="not run at this scale"),
    },
)


NAME_MAPPINGS = {"models", "seeds", "corpora", "sha256", "findings", "modes"}


def keys(data: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key in nested objects, except names of models, runs, seeds and corpora."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if not NAME_MAPPINGS & {*path[-1:]}:
            yield (*path, key)
        yield from keys(value, (*path, key))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write(tmp_path / "table_3.json", COMPARISON)
    assert read(tmp_path / "table_3.json").model_dump() == COMPARISON.model_dump()
    with pytest.raises(ScoreError, match="nothing.json: there is no such file. Make it again"):
        read(tmp_path / "nothing.json")


def test_a_figure_has_its_source() -> None:
    bleu = read(GOLDEN).models["A_h1"].bleu
    assert bleu.effect
    assert (bleu.source, bleu.effect.source) == (
        "table_3.json:models.A_h1.bleu",
        "table_3.json:models.A_h1.bleu.effect",
    )


def test_the_golden_file_gives_the_record() -> None:
    assert read(GOLDEN).model_dump() == COMPARISON.model_dump()


def test_the_first_run() -> None:
    assert COMPARISON.models["brief"].run == "en-de.brief"


@pytest.mark.parametrize("path", [*keys(json.loads(GOLDEN.read_text()))], ids=".".join)
def test_a_renamed_key_is_named_with_its_file(tmp_path: Path, path: tuple[str, ...]) -> None:
    data = json.loads(GOLDEN.read_text())
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    parent[f"{path[-1]}ed"] = parent.pop(path[-1])
    file = tmp_path / "table_3.json"
    file.write_text(json.dumps(data))
    with pytest.raises(ScoreError) as error:
        read(file)
    assert str(error.value).startswith(f"{file}: ")
    assert path[-1] in str(error.value)
    assert str(error.value).endswith("Make it again: dvc repro -f compare.")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "the file must be a mapping"),
        (
            GOLDEN.read_text().replace('"outcome": "higher"', '"outcome": "up"'),
            "outcome must be 'higher', 'lower', 'equal' or 'undecided', not 'up'",
        ),
        (GOLDEN.read_text().replace("23.5", '"high"'), "must be a valid number, not 'high'"),
        (GOLDEN.read_text().replace('"base": "brief"', '"base": "big"'), "models.big, the base,"),
    ],
)
def test_damage_is_named(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "table_3.json"
    file.write_text(content)
    with pytest.raises(ScoreError, match=message):
        read(file)
