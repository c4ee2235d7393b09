"""The page that a reproduction's folder begins with: what was run, on which data, with which
result, and how to start it again. From the folder's own files alone.

`make reproduction` and `make publish` run this file.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from aiayn.commands.publication.folder import results, stages, trainings, verdicts
from aiayn.commands.publication.materials import corpora_of, downloads_of
from aiayn.config import PARAMS, read_yaml
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.report.parts.tables import Table, markdown, numbers, row, table, text
from aiayn.results import places
from aiayn.results.circumstances import TrainCircumstances
from aiayn.results.host import UNKNOWN_COMMIT

OWN = "made by the project itself"
WHERE = {
    PARAMS: "all parameters",
    places.LOCK: "every stage with the digests of its code, of what it read and of what it wrote",
    places.SCORES: "each run's scores, with signatures and intervals",
    places.METRICS: "the few numbers that runs are compared by",
    places.COMPARISONS: "table 3's rows beside their base, and the paper's findings, tested",
    places.HISTORIES: "training curves",
    places.OUTPUTS: "what each run made of the dev and test sets",
    places.TEXTS: "what each task's text is made of, counted and with its digests; not the text",
    places.PROFILES: "FLOPs and parameters, counted",
    places.ILLUSTRATIONS: "the numbers behind the figures that explain the model",
    places.CIRCUMSTANCES: "when, where, with which versions and how fast",
    places.REPORT_PAGE: "the report: one page, open it in a browser",
    places.REPORT_TABLES: "its tables",
}


def readme(folder: Path, name: str) -> str:
    """The page of the reproduction that lies in a folder.

    Args:
        name: what it is called, wherever it lies now.
    Raises:
        DataError, ScoreError: a file in it is damaged.
    """
    trained = trainings(folder)
    latest_first = [t.commit for t in reversed(trained) if t.commit != UNKNOWN_COMMIT]
    commits = Counter(latest_first)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("readme.md").render(
        name=name,
        scale=read_yaml((folder / PARAMS).read_bytes()).get("scale"),
        trained=trained,
        begun=min((held.started[:16].replace("T", " ") for held in trained), default=""),
        ended=trained[-1].ended[:16].replace("T", " ") if trained else "",
        devices=_distinct(trained, "device"),
        pythons=_distinct(trained, "python"),
        torches=list(dict.fromkeys(held.versions.get("torch", "?") for held in trained)),
        checkout=latest_first[0].removesuffix("-dirty") if commits else "COMMIT",
        commits=commits,
        dirty=any(commit.endswith("-dirty") for commit in commits),
        results=markdown((_results(folder),)),
        # an address stands as it is: with escapes in it, it leads nowhere
        data=re.sub(r"https?://\S+", _unescaped, markdown((_data(folder),))),
        params=PARAMS,
        lock=places.LOCK,
        places={
            f"{place}/" if (folder / place).is_dir() else str(place): what
            for place, what in WHERE.items()
            if (folder / place).exists()
        },
    )
    return re.sub("\n{3,}", "\n\n", page).rstrip("\n") + "\n"


def _unescaped(found: re.Match[str]) -> str:
    return found[0].replace("\\", "")


def _distinct(trained: list[TrainCircumstances], field: str) -> list[str]:
    return list(dict.fromkeys(str(getattr(held, field)) for held in trained))


def _results(folder: Path) -> Table:
    """Each run's first score on each of its test sets; what came of the findings beneath."""
    return table(
        "Result",
        text("Run", "Test set")
        + numbers("Sentences")
        + text("Score")
        + numbers("Result")
        + text("95 % interval"),
        (
            row(one.run, one.corpora, one.pairs, one.measure, one.value, one.interval)
            for one in results(folder)
        ),
        _said(folder),
    )


def _said(folder: Path) -> Iterator[str]:
    yield (
        "Each run's first score, on every test set that it translated, parsed or labelled; all "
        f"scores are in {places.SCORES}/, those of the other runs on dev."
    )
    if told := verdicts(folder):
        yield f"Of the paper's statements, tested here: {told} ({places.TABLE_3})."


def _data(folder: Path) -> Table:
    """What the tasks' text was made of, each source once, and the text's digests."""
    sources: dict[tuple[str, str, str], list[str]] = {}
    texts = []
    for name, entry in sorted(stages(folder).items()):
        stage, _, task = name.partition("@")
        if stage != "download":
            continue
        params: Mapping[str, Any] = (entry.get("params") or {}).get(PARAMS.name) or {}
        corpora, languages = corpora_of(params)
        for download in downloads_of(params, corpora, languages):
            url, terms, checksum = (str(download[key]) for key in ("url", "licence", "checksum"))
            sources.setdefault((url, terms, checksum), []).append(task)
        for said in dict.fromkeys(filter(None, map(_undownloaded, corpora))):
            sources.setdefault(said, []).append(task)
        for out in entry.get("outs") or ():
            texts.append((str(out["path"]), task, "", f"md5:{out.get('md5', '?')}"))
    rows = [(said, ", ".join(tasks), *rest) for (said, *rest), tasks in sources.items()]
    note = f"Below {places.TEXTS} the whole text of a task, cleaned, as the stages read it; by DVC."
    columns = text("Text", "Tasks", "On these terms", "Checksum")
    return table("Data", columns, (row(*cells) for cells in [*rows, *texts]), (note,))


def _undownloaded(corpus: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Where a corpus comes from, if not from the Web."""
    if corpus.get("grammar") or corpus.get("sequences"):
        return OWN, "MIT", ""
    folder = (corpus.get("treebank") or {}).get("folder")
    return (
        (f"a folder of the user's own, named by {folder}", "the user's licence", "")
        if folder
        else None
    )


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", help="of the reproduction; default: the folder's")
    given = parser.parse_args()
    name = given.name or given.folder.resolve().name
    write_atomically(places.card(given.folder), readme(given.folder, name))


if __name__ == "__main__":
    main()
