"""Scores are checked against their hypotheses, perplexities against their loss."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import corpus_bleu

from aiayn.commands.verification.rescoring import Hypotheses, _differences, contradictions
from aiayn.evaluation.scoring import score_task_split
from aiayn.results import history, paths, scores
from aiayn.results.frames import Results
from aiayn.results.history import History
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
        run_scores = RunScores(run=run, task="en-de", model=run.split(".")[1], splits=splits)
        scores.write(root / paths.scores(run), run_scores)
    return root


def contradictions_in(root: Path, texts: Path | None = None) -> tuple[str, ...]:
    return contradictions([Results(root)], texts or root)


def test_scores_that_follow_from_their_hypotheses(here: Path) -> None:
    assert contradictions_in(here) == ()


def test_swapped_hypotheses(here: Path) -> None:
    files = [paths.hypotheses(here / paths.outputs(run), "dev") for run in RUNS]
    for file, run in zip(files, reversed(RUNS), strict=True):
        write_lines(file, HYPOTHESES[run])
    first_bleu, second_bleu = (corpus_bleu(HYPOTHESES[run], [REFERENCES]).score for run in RUNS)
    assert abs(first_bleu - second_bleu) > 1
    bleu_lines = [line for line in contradictions_in(here) if " dev bleu is " in line]
    assert len(bleu_lines) == 2
    assert bleu_lines[0].startswith(f"{here}/scores/{RUNS[0]}.json: dev bleu is {first_bleu:.2f} (")
    assert f"but {files[0]} scores {second_bleu:.2f} (" in bleu_lines[0]


def test_a_widened_interval(here: Path) -> None:
    file = here / paths.scores(RUNS[0])
    run_scores = scores.read(file)
    bleu = run_scores.splits["dev"].scores["bleu"]
    wide: Any = run_scores.splits["dev"].replace(bleu=bleu.replace(low=0.0))
    scores.write(file, run_scores.replace(splits={"dev": wide}))
    (line,) = contradictions_in(here)
    assert f"dev bleu is {bleu.value:.2f} (0.00 to {bleu.high:.2f})" in line


def test_a_published_side_is_checked_against_the_references_here(
    here: Path, tmp_path: Path
) -> None:
    published = tmp_path / "elsewhere"
    shutil.copytree(here, published, ignore=shutil.ignore_patterns("text"))
    assert contradictions_in(published) == ()
    file = paths.hypotheses(published / paths.outputs(RUNS[0]), "dev")
    write_lines(file, HYPOTHESES[RUNS[1]])
    assert contradictions_in(published) == ()  # nothing to compare with
    assert contradictions_in(published, here)
    write_lines(paths.lines(here / paths.text("en-de"), "dev", "target"), ["others"])
    manifest = paths.manifest(here / paths.text("en-de"))
    manifest.write_text(manifest.read_text().replace('"target": "', '"target": "0'))
    assert contradictions_in(published, here) == ()


def test_a_perplexity_that_does_not_match_its_loss(side: Side) -> None:
    root = side("here", perplexity=148.41)
    assert contradictions_in(root) == ()
    file = root / paths.history(RUNS[0])
    file.write_text(file.read_text().replace("148.41", "1484.1"))
    assert contradictions_in(root) == (
        f"{file}: the last dev_perplexity is 1484.10, but its dev_loss gives 148.41",
    )


@pytest.mark.parametrize("loss", [705.0, 720.0])
def test_a_diverged_training_has_the_largest_perplexity(side: Side, loss: float) -> None:
    """The one that training writes, which a float64 can hold."""
    root = side("here", perplexity=148.41)
    file = root / paths.history(RUNS[0])
    *before, last = history.read(file).lines
    diverged = last.replace(dev_loss=loss, dev_perplexity=round(math.exp(700), 6))
    file.write_text(history.content(History((*before, diverged))))
    assert contradictions_in(root) == ()


def test_a_fitted_baseline_is_not_recomputed(here: Path) -> None:
    """Its last digits differ between machines."""
    test_set = TestSet(corpora={}, pairs=1, sha256={})
    names = ("accuracy", "bag_of_words_accuracy")
    recorded, recomputed = (
        SplitScores.of(test_set, dict.fromkeys(names, Score(value=value, signature="s")))
        for value in (80.2, 80.4)
    )
    hypotheses = Hypotheses(
        "classification", Results(here).config.task("en-de").text, "dev", Path(), Path()
    )
    (difference,) = _differences(Path("scores.json"), hypotheses, recorded, recomputed)
    assert "dev accuracy is 80.20" in difference
