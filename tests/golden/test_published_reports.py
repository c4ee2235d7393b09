"""Every published report, rendered again from its records: the same files, byte for byte.

Stages run as processes, by their files, and no module of the project is named here: this holds whatever
moves. The text of a corpus is not published, its manifest alone is. Text of the project's own is made
again by the stage that made it, that of others from ../shared/mirror beside the repository. Without it, the
files that show text are not compared, and a test that found the others equal says so and is skipped.
"""

from __future__ import annotations

import io
import itertools
import json
import operator
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tests.forked_python import programs

ROOT = Path(__file__).resolve().parents[2]
MIRROR = ROOT.parent / "shared/mirror"
PUBLISHED = sorted(path.parent for path in ROOT.glob("reproductions/*/params.yaml"))

# when, by which commit and on which machine it was rendered, and what its dvc.lock was before: each report's
# own. The facts' names are compared, and all else of the page
FACTS_OF_RENDERING = re.compile(rb'<section id="report">.*?</section>', re.DOTALL)
FACT = re.compile(rb"<code>.*?</code>")

SHOW_TEXT = (
    "index.html", "figures/bleu_by_length_*", "figures/tree_*", "tables/beyond.md", "tables/beyond.tex",
)  # fmt: skip

Files = Mapping[str, bytes]
Text = Callable[[Path], Path]


def run(folder: Path, stage: str, *arguments: str, **environment: str) -> None:
    """A stage, by the code beside this file, whichever is installed."""
    done = subprocess.run(
        [programs.python(), str(ROOT / f"pipeline/{stage}.py"), *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), f"{stage} {arguments}: {done.stderr}"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Text:
    """Makes the text that a manifest is of; once, as reproductions share some."""
    made: dict[bytes, Path] = {}

    def make(manifest: Path) -> Path:
        content = manifest.read_bytes()
        if content not in made:
            folder = tmp_path_factory.mktemp("text")
            shutil.copy(manifest.parents[3] / "params.yaml", folder)
            shutil.copy(ROOT / "dvc.yaml", folder)
            run(folder, "download", manifest.parent.name, AIAYN_MIRROR=str(MIRROR))
            made[content] = folder / "data/text" / manifest.parent.name
            assert (made[content] / "manifest.json").read_bytes() == content, str(manifest)
        return made[content]

    return make


def lay_out(reproduction: Path, folder: Path, text: Text | None) -> None:
    """What a reproduction has but its report, and its tasks' text. What runs made of a text is nothing
    without it."""
    left_out = ("reports", "README.md", *(() if text else ("*.hypotheses",)))
    shutil.copytree(reproduction, folder, ignore=shutil.ignore_patterns(*left_out))
    shutil.copy(ROOT / "dvc.yaml", folder)
    if text:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for made in pool.map(text, reproduction.glob("data/text/*/manifest.json")):
                shutil.copytree(made, folder / "data/text" / made.name, dirs_exist_ok=True)


def published(reproduction: Path) -> Files:
    """A reproduction's report. The demo's is that of the repository, as committed: `make repro` writes
    another."""
    if (reproduction / "reports").is_dir():
        return files(reproduction / "reports")
    assert reproduction.name == "demo"
    command = ["git", "archive", "HEAD", "reports"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip("no git, or no commit: what the repository shows cannot be told")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        held = {member.name: archive.extractfile(member) for member in archive}
    return {name.removeprefix("reports/"): file.read() for name, file in held.items() if file}


def files(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def differences(there: Files, here: Files) -> Iterator[str]:
    """A file that differs, and the first of its lines that do."""
    for name in sorted({*there, *here}):
        if name not in here:
            yield f"{name} is published and not rendered"
        elif name not in there:
            yield f"{name} is rendered and not published"
        elif comparable(name, there[name]) != comparable(name, here[name]):
            pages = (comparable(name, held[name]).split(b"\n") for held in (there, here))
            pairs = enumerate(itertools.zip_longest(*pages), start=1)
            lines = ((number, old, new) for number, (old, new) in pairs if old != new)
            yield "\n".join([name, *itertools.starmap(shown, itertools.islice(lines, 3))])


def comparable(name: str, content: bytes) -> bytes:
    if name != "run_metadata.html":
        return content
    return FACTS_OF_RENDERING.sub(lambda found: FACT.sub(b"<code></code>", found[0]), content)


def shown(number: int, old: bytes | None, new: bytes | None) -> str:
    """A line of either file, from a little before where they part."""
    alike = itertools.takewhile(bool, map(operator.eq, old or b"", new or b""))
    begin = max(0, sum(alike) - 40)
    sides = (
        "(no such line)" if line is None else line[begin : begin + 160].decode(errors="replace")
        for line in (old, new)
    )
    return "\n".join(f"  {number}: {side} {line}" for side, line in zip("-+", sides, strict=True))


def test_there_are_reproductions() -> None:
    assert {"demo", "genia", "multi30k"} <= {path.name for path in PUBLISHED}


@pytest.mark.parametrize("reproduction", PUBLISHED, ids=lambda path: path.name)
def test_a_published_report_is_rendered_again(
    reproduction: Path, text: Text, tmp_path: Path
) -> None:
    manifests = [json.loads(path.read_bytes()) for path in reproduction.glob("data/text/*/*.json")]
    assert manifests, "without the manifests of its text a report says less"
    has_text = MIRROR.is_dir() or not any(manifest["downloads"] for manifest in manifests)
    lay_out(reproduction, tmp_path / "again", text if has_text else None)
    run(tmp_path / "again", "report")
    there, here = published(reproduction), files(tmp_path / "again/reports")
    assert len(there) > 50
    unseen = {
        name
        for name in {*there, *here}
        if not has_text and any(fnmatch(name, pattern) for pattern in SHOW_TEXT)
    }
    there, here = (
        {name: content for name, content in held.items() if name not in unseen}
        for held in (there, here)
    )
    if found := list(differences(there, here)):
        pytest.fail("\n".join(found), pytrace=False)
    if unseen:
        pytest.skip(f"{len(there)} files are the same; {len(unseen)} show text: needs {MIRROR}")


def test_another_number_in_a_record_is_seen(tmp_path: Path) -> None:
    reproduction, again = ROOT / "reproductions/genia", tmp_path / "again"
    lay_out(reproduction, again, None)
    curve = again / "history/parsing.small.csv"
    before, _, last = curve.read_text().rpartition(",")
    assert last == "1.26279\n"
    curve.write_text(f"{before},1.27279\n")
    run(again, "report", "--only", "training")
    here = files(again / "reports")
    seen = [*differences({name: published(reproduction)[name] for name in here}, here)]
    assert [said.partition("\n")[0] for said in seen] == [
        "figures/training_parsing.csv", "figures/training_parsing.svg",
    ]  # fmt: skip
    assert re.search(r"\n  \d+: - .*,1\.26279,.*\n  \d+: \+ .*,1\.27279,", seen[0])


def test_what_differs_is_named_with_its_first_lines() -> None:
    facts = b'<section id="report">\n<dt>rendered</dt><code>%b</code>\n</section>\n<code>%b</code>'
    there = {"a": b"1\n2\n3\n", "b": b"", "run_metadata.html": facts % (b"yesterday", b"x")}
    assert [*differences(there, {**there, "run_metadata.html": facts % (b"today", b"x")})] == []
    here = {"a": b"1\nII\n3\n4\n", "c": b"", "run_metadata.html": facts % (b"today", b"y")}
    assert [*differences(there, here)] == [
        "a\n  2: - 2\n  2: + II\n  4: - \n  4: + 4\n  5: - (no such line)\n  5: + ",
        "b is published and not rendered",
        "c is rendered and not published",
        "run_metadata.html\n  4: - <code>x</code>\n  4: + <code>y</code>",
    ]
