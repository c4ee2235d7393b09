"""Every published report, rendered again from its records, gives the same files byte for byte.

Stages run as processes and no module of the project is imported, so moving code does not break this test.
Of a corpus only the manifest is published, not its text. The project's own text is generated again by its
stage; other text is read from ../shared/mirror next to the repository. Without the mirror, files that show
text are not compared, and a test whose other files are equal is skipped with that reason.
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

# the time, commit and machine of the rendering, and the dvc.lock before it, differ between reports: of these
# facts only the names are compared
FACTS_OF_RENDERING = re.compile(rb'<section id="report">.*?</section>', re.DOTALL)
FACT = re.compile(rb"<code>.*?</code>")

SHOW_TEXT = (
    "index.html", "figures/bleu_by_length_*", "figures/tree_*", "tables/beyond.md", "tables/beyond.tex",
)  # fmt: skip

Files = Mapping[str, bytes]
Text = Callable[[Path], Path]


def run(folder: Path, stage: str, *arguments: str, **environment: str) -> None:
    """Run a stage with the code of this repository, whichever version is installed."""
    done = subprocess.run(
        [programs.python(), str(ROOT / f"pipeline/{stage}.py"), *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), f"{stage} {arguments}: {done.stderr}"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Text:
    """Makes the text of a manifest, once: some reproductions share theirs."""
    folders: dict[bytes, Path] = {}

    def make(manifest: Path) -> Path:
        content = manifest.read_bytes()
        if content not in folders:
            folder = tmp_path_factory.mktemp("text")
            shutil.copy(manifest.parents[3] / "params.yaml", folder)
            shutil.copy(ROOT / "dvc.yaml", folder)
            run(folder, "download", manifest.parent.name, AIAYN_MIRROR=str(MIRROR))
            folders[content] = folder / "data/text" / manifest.parent.name
            assert (folders[content] / "manifest.json").read_bytes() == content, str(manifest)
        return folders[content]

    return make


def copy_inputs(reproduction: Path, folder: Path, text: Text | None) -> None:
    """Copy a reproduction without its report, and add its tasks' text; without text, leave out the
    hypotheses too."""
    excluded = ("reports", "README.md", *(() if text else ("*.hypotheses",)))
    shutil.copytree(reproduction, folder, ignore=shutil.ignore_patterns(*excluded))
    shutil.copy(ROOT / "dvc.yaml", folder)
    if text:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for source in pool.map(text, reproduction.glob("data/text/*/manifest.json")):
                shutil.copytree(source, folder / "data/text" / source.name, dirs_exist_ok=True)


def published(reproduction: Path) -> Files:
    """A reproduction's report. The demo's is that of the repository as committed, as `make repro`
    overwrites it."""
    if (reproduction / "reports").is_dir():
        return files(reproduction / "reports")
    assert reproduction.name == "demo"
    command = ["git", "archive", "HEAD", "reports"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip("no git, or no commit: the committed report cannot be read")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        members = {member.name: archive.extractfile(member) for member in archive}
    return {name.removeprefix("reports/"): file.read() for name, file in members.items() if file}


def files(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def differences(expected: Files, actual: Files) -> Iterator[str]:
    """Each file that differs, with the first lines that do."""
    for name in sorted({*expected, *actual}):
        if name not in actual:
            yield f"{name} is published and not rendered"
        elif name not in expected:
            yield f"{name} is rendered and not published"
        elif comparable(name, expected[name]) != comparable(name, actual[name]):
            pages = (comparable(name, report[name]).split(b"\n") for report in (expected, actual))
            pairs = enumerate(itertools.zip_longest(*pages), start=1)
            lines = ((number, old, new) for number, (old, new) in pairs if old != new)
            yield "\n".join([name, *itertools.starmap(shown_lines, itertools.islice(lines, 3))])


def comparable(name: str, content: bytes) -> bytes:
    if name != "run_metadata.html":
        return content
    return FACTS_OF_RENDERING.sub(lambda found: FACT.sub(b"<code></code>", found[0]), content)


def shown_lines(number: int, old: bytes | None, new: bytes | None) -> str:
    """A line of both files, from shortly before their first difference."""
    equal = itertools.takewhile(bool, map(operator.eq, old or b"", new or b""))
    begin = max(0, sum(equal) - 40)
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
    copy_inputs(reproduction, tmp_path / "again", text if has_text else None)
    run(tmp_path / "again", "report")
    expected, actual = published(reproduction), files(tmp_path / "again/reports")
    assert len(expected) > 50
    not_compared = {
        name
        for name in {*expected, *actual}
        if not has_text and any(fnmatch(name, pattern) for pattern in SHOW_TEXT)
    }
    expected, actual = (
        {name: content for name, content in report.items() if name not in not_compared}
        for report in (expected, actual)
    )
    if found := list(differences(expected, actual)):
        pytest.fail("\n".join(found), pytrace=False)
    if not_compared:
        pytest.skip(
            f"{len(expected)} files are the same; {len(not_compared)} show text: needs {MIRROR}"
        )


def test_a_changed_record_is_noticed(tmp_path: Path) -> None:
    reproduction, folder = ROOT / "reproductions/genia", tmp_path / "again"
    copy_inputs(reproduction, folder, None)
    curve = folder / "history/parsing.small.csv"
    before, _, last = curve.read_text().rpartition(",")
    assert last == "1.26279\n"
    curve.write_text(f"{before},1.27279\n")
    run(folder, "report", "--only", "training")
    actual = files(folder / "reports")
    found = [*differences({name: published(reproduction)[name] for name in actual}, actual)]
    assert [difference.partition("\n")[0] for difference in found] == [
        "figures/training_parsing.csv", "figures/training_parsing.svg",
    ]  # fmt: skip
    assert re.search(r"\n  \d+: - .*,1\.26279,.*\n  \d+: \+ .*,1\.27279,", found[0])


def test_a_difference_is_shown_with_its_first_lines() -> None:
    facts = b'<section id="report">\n<dt>rendered</dt><code>%b</code>\n</section>\n<code>%b</code>'
    expected = {"a": b"1\n2\n3\n", "b": b"", "run_metadata.html": facts % (b"yesterday", b"x")}
    assert [
        *differences(expected, {**expected, "run_metadata.html": facts % (b"today", b"x")})
    ] == []
    actual = {"a": b"1\nII\n3\n4\n", "c": b"", "run_metadata.html": facts % (b"today", b"y")}
    assert [*differences(expected, actual)] == [
        "a\n  2: - 2\n  2: + II\n  4: - \n  4: + 4\n  5: - (no such line)\n  5: + ",
        "b is published and not rendered",
        "c is rendered and not published",
        "run_metadata.html\n  4: - <code>x</code>\n  4: + <code>y</code>",
    ]
