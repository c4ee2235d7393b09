"""A few sentences of each task's test set with what every run made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiayn.config import Config
from aiayn.errors import DataError

SENTENCES = 4


@dataclass(frozen=True)
class Example:
    """Line `number` (from 1) of the test set; hypotheses by run."""

    number: int
    source: str
    reference: str
    hypotheses: Mapping[str, str]


@dataclass(frozen=True)
class TaskExamples:
    """Examples of a task, with the languages of both sides."""

    task: str
    source_language: str
    target_language: str
    corpus: str
    examples: tuple[Example, ...]


def read_examples(config: Config, text: Path, outputs: Path) -> Iterator[TaskExamples]:
    """Of every task that has a test set in `text`, evenly spaced over that set.

    Args:
        text: folder of TASK/test.source and TASK/test.target.
        outputs: folder of RUN/test.hypotheses; a run without them is left out.
    Raises:
        DataError: a file is not UTF-8, or has not as many lines as the source.
    """
    for name, task in config.tasks.items():
        source_path = text / name / "test.source"
        source = _lines(source_path)
        reference = _lines(text / name / "test.target")
        if not source or not reference:
            continue
        sides = {"reference": reference}
        for run, described in config.runs.items():
            if described.task == name:
                sides[run] = _lines(outputs / run / "test.hypotheses")
        sides = {side: lines for side, lines in sides.items() if lines}
        for side, lines in sides.items():
            if len(lines) != len(source):
                raise DataError(
                    f"{source_path} has {len(source)} lines and the {side} has {len(lines)}. "
                    f"Make both again: dvc repro."
                )
        del sides["reference"]
        yield TaskExamples(
            task=name,
            source_language=task.text.source,
            target_language=task.text.target,
            corpus=task.text.tests["test"],
            examples=tuple(
                Example(
                    number=index + 1,
                    source=source[index],
                    reference=reference[index],
                    hypotheses={run: lines[index] for run, lines in sides.items()},
                )
                for index in _spaced(len(source))
            ),
        )


def _spaced(count: int) -> Iterator[int]:
    """The middle of each of SENTENCES equal parts, or every line of a smaller set."""
    parts = min(count, SENTENCES)
    return ((2 * part + 1) * count // (2 * parts) for part in range(parts))


def _lines(path: Path) -> list[str]:
    """Lines as "\\n" parts them; none if there is no file."""
    try:
        return path.read_bytes().decode().removesuffix("\n").split("\n")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8. Make it again: dvc repro.") from error
