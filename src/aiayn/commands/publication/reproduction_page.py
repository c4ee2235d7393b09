"""README.md of a reproduction: what was run on which data, the results, and how to reproduce them;
rendered from the folder's own files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from aiayn.commands.publication.reproduction import Reproduction, interval
from aiayn.config import PARAMS, Corpus
from aiayn.files import write_atomically
from aiayn.report.tables import Table, markdown, numbers, row, table, text
from aiayn.results import paths
from aiayn.results.lock import Lock
from aiayn.results.machine_metadata import DIRTY, UNKNOWN_COMMIT

CONTENTS = {
    PARAMS: "all parameters",
    paths.LOCK: "every stage, with the digests of its code, inputs and outputs",
    paths.SCORES: "scores of each run, with signatures and intervals",
    paths.METRICS: "a few numbers of each run, for `dvc metrics`",
    paths.COMPARISONS: "table 3's rows compared with their base; the paper's statements, tested",
    paths.HISTORIES: "training curves",
    paths.OUTPUTS: "outputs of each run for the dev and test sets",
    paths.TEXTS: "manifests of the tasks' text: sources, sizes and digests, not the text",
    paths.PROFILES: "FLOPs and parameters, counted",
    paths.ILLUSTRATIONS: "data of the figures that explain the model",
    paths.METADATA: "run metadata: dates, machine, versions, speed",
    paths.REPORT_PAGE: "the report: one page, to be opened in a browser",
    paths.REPORT_TABLES: "its tables",
}


def write_page(folder: Path, name: str | None = None) -> None:
    """Write a reproduction's README.md.

    Args:
        name: of the reproduction; default: the folder's.
    Raises:
        ConfigError, DataError, ScoreError: a file of the reproduction is damaged.
    """
    write_atomically(paths.card(folder), render(Reproduction(folder, name)))


def environment() -> Environment:
    """The templates of all pages here."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(found: Reproduction) -> str:
    """The page as Markdown."""
    trainings = found.trainings
    known = [t.commit for t in reversed(trainings) if t.commit != UNKNOWN_COMMIT]
    commits = Counter(known)  # the latest training's first
    page = (
        environment()
        .get_template("reproduction_page.md")
        .render(
            name=found.name,
            scale=found.config.scale,
            trainings=len(trainings),
            begun=min(
                (training.started[:16].replace("T", " ") for training in trainings), default=""
            ),
            ended=trainings[-1].ended[:16].replace("T", " ") if trainings else "",
            devices=found.distinct(lambda training: training.device),
            pythons=found.distinct(lambda training: training.python),
            torches=found.distinct(lambda training: training.versions.get("torch", "?")),
            checkout=known[0].removesuffix(DIRTY) if known else "COMMIT",
            commits=commits,
            dirty=any(commit.endswith(DIRTY) for commit in commits),
            results=markdown((_results(found),)),
            # URLs must not be escaped
            data=re.sub(
                r"https?://\S+", lambda url: url[0].replace("\\", ""), markdown((_data(found),))
            ),
            params=PARAMS,
            lock=paths.LOCK,
            contents={
                f"{path}/" if (found.root / path).is_dir() else str(path): what
                for path, what in CONTENTS.items()
                if (found.root / path).exists()
            },
        )
    )
    return re.sub("\n{3,}", "\n\n", page).rstrip("\n") + "\n"


def _results(found: Reproduction) -> Table:
    columns = (
        *text("Run", "Test set"), *numbers("Sentences"), *text("Metric"),
        *numbers("Score", form=".2f"), *text("95 % interval"),
    )  # fmt: skip
    rows = (
        row(
            score["run"], score["test_set"].replace("+", " + "), score["pairs"], score["metric"],
            score["value"], interval(score),
        )
        for _, score in found.test_scores.iterrows()
    )  # fmt: skip
    notes = [
        f"The first score of each run on each of its test sets; {paths.SCORES}/ has all scores, "
        "those of the other runs on dev too."
    ]
    if found.verdicts:
        notes.append(f"The paper's statements, tested: {found.verdicts} ({paths.TABLE_3}).")
    return table("Results", columns, rows, notes)


def _data(found: Reproduction) -> Table:
    """Each source of the tasks' text, then the digests of the whole text."""
    sources: dict[tuple[str, ...], list[str]] = {}
    for name in found.config.tasks:
        for source in dict.fromkeys(_sources(found, name)):
            sources.setdefault(source, []).append(name)
    lock = Lock(found.root / paths.LOCK)
    rows = [row(what, ", ".join(tasks), *rest) for (what, *rest), tasks in sources.items()]
    for name in found.config.tasks:
        path = str(paths.text(name))
        rows.append(row(path, name, "", f"md5:{lock.out(path) or '?'}"))
    note = f"{paths.TEXTS}/TASK is the cleaned text that the stages read; its digest is DVC's."
    return table("Data", text("Source", "Tasks", "Licence", "Checksum"), rows, [note])


def _sources(found: Reproduction, task: str) -> Iterator[tuple[str, str, str]]:
    """Source, licence and checksum of every corpus of a task."""
    spec, catalogue = found.config.task(task).text, found.config.catalogue
    for name in spec.corpora:
        corpus = catalogue.corpora[name]
        downloads = corpus.downloads((spec.source, spec.target))
        for download in map(catalogue.downloads.__getitem__, downloads):
            yield download.url, download.licence, download.checksum
        if not downloads:
            yield _local_source(corpus)


def _local_source(corpus: Corpus) -> tuple[str, str, str]:
    folder = corpus.treebank and corpus.treebank.folder
    if folder:
        return f"the user's folder {folder}", "the user's licence", ""
    if files := corpus.own_files:
        return " and ".join(f"`{side.file}`" for side in files), "the user's licence", ""
    return "generated by the project", "MIT", ""
