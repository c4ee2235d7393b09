"""Scores are checked against their hypotheses, perplexities against their loss."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import corpus_bleu

from aiayn.commands.verification.rescoring import Hypotheses, _differences, contradictions
from aiayn.evaluation.scoring import score_task_split
from aiayn.results import paths, scores
from aiayn.results.frames import Results
from aiayn.results.scores import RunScores, Score, SplitScores, TestSet
from aiayn.results.text import Manifest, Part, Split, write_lines, write_manifest

RUNS = ("en-de.base", "en-de.big")
REFERENCES = [f"der Hund mit der Nummer {n} schläft heute in der Sonne ." for n in range(12)]
HYPOTHESES = {
    RUNS[0]: [line.replace("Hund", "Mann") for line in REFERENCES],
    RUNS[1]: [line.replace("schläft heute", "geht jetzt") for line in REFERENCES],
}
Side = Callable[..., Path]


@pytest.fixture
def here(side: Side) -> Path:
    """A folder with text, hypotheses of two runs, and their scores."""
    root = side("here", perplexity=148.41)  # exp(5)
    shutil.rmtree(root / "scores")
    text = root / paths.text("en-de")
    write_lines(paths.lines(text, "dev", "target"), REFERENCES)
    content = paths.lines(text, "dev", "target").read_bytes()
    split = Split(
        corpora={"demo-dev": Part(pairs=12)}, pairs=12, words={},
        sha256={"target": hashlib.sha256(content).hexdigest()},
    )  # fmt: skip
    manifest = Manifest(
        task="en-de", languages={"source": "en", "target": "de"}, form="raw", cleaning={},
        downloads={}, splits={"dev": split},
    )  # fmt: skip
    write_manifest(paths.manifest(text), manifest)
    task = Results(root).config.task("en-de")
    for run, lines in HYPOTHESES.items():
        outputs = root / paths.outputs(run)
        write_lines(paths.hypotheses(outputs, "dev"), lines)
        splits = {"dev": score_task_split(task.kind, task.text, "dev", text, outputs)}
        found = RunScores(run=run, task="en-de", model=run.split(".")[1], splits=splits)
        scores.write(root / paths.scores(run), found)
    return root


def found(root: Path, texts: Path | None = None) -> tuple[str, ...]:
    return contradictions([Results(root)], texts or root)


def test_scores_that_follow_from_their_hypotheses(here: Path) -> None:
    assert found(here) == ()


def test_swapped_hypotheses(here: Path) -> None:
    files = [paths.hypotheses(here / paths.outputs(run), "dev") for run in RUNS]
    for file, run in zip(files, reversed(RUNS), strict=True):
        write_lines(file, HYPOTHESES[run])
    of_first, of_second = (corpus_bleu(HYPOTHESES[run], [REFERENCES]).score for run in RUNS)
    assert abs(of_first - of_second) > 1
    said = [sentence for sentence in found(here) if " dev bleu is " in sentence]
    assert len(said) == 2
    assert said[0].startswith(f"{here}/scores/{RUNS[0]}.json: dev bleu is {of_first:.2f} (")
    assert f"but {files[0]} scores {of_second:.2f} (" in said[0]


def test_a_widened_interval(here: Path) -> None:
    file = here / paths.scores(RUNS[0])
    one = scores.read(file)
    bleu = one.splits["dev"].scores["bleu"]
    wide: Any = one.splits["dev"].replace(bleu=bleu.replace(low=0.0))
    scores.write(file, one.replace(splits={"dev": wide}))
    (said,) = found(here)
    assert f"dev bleu is {bleu.value:.2f} (0.00 to {bleu.high:.2f})" in said


def test_of_a_published_side_the_references_are_those_here(here: Path, tmp_path: Path) -> None:
    published = tmp_path / "elsewhere"
    shutil.copytree(here, published, ignore=shutil.ignore_patterns("text"))
    assert found(published) == ()
    file = paths.hypotheses(published / paths.outputs(RUNS[0]), "dev")
    write_lines(file, HYPOTHESES[RUNS[1]])
    assert found(published) == ()  # nothing to compare with
    assert found(published, here)
    write_lines(paths.lines(here / paths.text("en-de"), "dev", "target"), ["others"])
    manifest = paths.manifest(here / paths.text("en-de"))
    manifest.write_text(manifest.read_text().replace('"target": "', '"target": "0'))
    assert found(published, here) == ()


def test_a_perplexity_that_is_not_that_of_its_loss(side: Side) -> None:
    root = side("here", perplexity=148.41)
    assert found(root) == ()
    file = root / paths.history(RUNS[0])
    file.write_text(file.read_text().replace("148.41", "1484.1"))
    assert found(root) == (
        f"{file}: the last dev_perplexity is 1484.10, but its dev_loss gives 148.41",
    )


def test_a_baseline_that_is_fitted_is_not_computed_again(here: Path) -> None:
    """Its last digits differ between machines."""
    test_set = TestSet(corpora={}, pairs=1, sha256={})
    names = ("accuracy", "bag_of_words_accuracy")
    recorded, again = (
        SplitScores.of(test_set, dict.fromkeys(names, Score(value=value, signature="s")))
        for value in (80.2, 80.4)
    )
    one = Hypotheses(
        "classification", Results(here).config.task("en-de").text, "dev", Path(), Path()
    )
    (difference,) = _differences(Path("scores.json"), one, recorded, again)
    assert "dev accuracy is 80.20" in difference
