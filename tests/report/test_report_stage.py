"""The stage itself, over a hand-made project: what it writes, and what it does not change."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.forked_python import programs

from aiayn.results import metadata, paths
from aiayn.results.metadata import LayerTimes, ProfilingMetadata, TrainingMetadata

STAGE = Path(__file__).parents[2] / "pipeline/report.py"
SCRIPT = '<script>document.title = "owned"</script>'
BLEU = {"en-de.base": 27.1, "en-de.big": 29.25, "en-fr.base": 38.1}

Project = Callable[..., Path]
Maker = Callable[..., dict[str, Any]]


def render(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [programs.python(), str(STAGE), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def reports(folder: Path) -> dict[str, bytes]:
    root = folder / "reports"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


class Page(HTMLParser):
    """All elements with their text; void elements have none."""

    VOID = ("meta", "br", "path", "use", "rect")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[dict[str, Any]] = []
        self.elements: list[dict[str, Any]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = {"tag": tag, "text": "", **dict(attrs)}
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()["tag"] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] += data


@pytest.fixture
def wmt14_project(project: Project, wmt14: dict[str, Any], scores_file: Maker) -> Path:
    """Three of four runs scored on the paper's test sets."""
    return project(
        wmt14,
        {
            run: scores_file(run, f"newstest2014-{run[3:5]}-en", 3003, bleu)
            for run, bleu in BLEU.items()
        },
    )


@pytest.fixture(scope="module")
def report_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report that is rendered only once: each rendering takes a second."""
    return tmp_path_factory.mktemp("kept") / "reports"


@pytest.fixture
def rendered(wmt14_project: Path, report_cache: Path) -> Path:
    """The project with its report."""
    if not report_cache.exists():
        assert render(wmt14_project).returncode == 0
        shutil.copytree(wmt14_project / "reports", report_cache)
    shutil.copytree(report_cache, wmt14_project / "reports", dirs_exist_ok=True)
    return wmt14_project


def test_links_have_targets(rendered: Path) -> None:
    page = Page((rendered / "reports/index.html").read_text(encoding="utf-8"))
    linked = [e for e in page.elements if e["tag"] == "a" and e["text"] == "27.10"]
    assert linked
    ids = {element.get("id") for element in page.elements}
    anchors = [e["href"] for e in page.elements if e["tag"] == "a" and e["href"].startswith("#")]
    assert {anchor[1:] for anchor in anchors} <= ids


def test_the_page_needs_no_other_file(rendered: Path) -> None:
    page = Page((rendered / "reports/index.html").read_text(encoding="utf-8"))
    assert not {"link", "img", "iframe"} & {element["tag"] for element in page.elements}
    assert [e.get("src") for e in page.elements if e["tag"] == "script"] == [None]
    targets = {e["href"] for e in page.elements if e["tag"] == "a" and "#" not in e["href"]}
    for target in targets:
        assert (rendered / "reports" / target).is_file()
    drawn = {e["id"] for e in page.elements if e["tag"] == "figure"}
    assert {"figure-training_en-de", "figure-bleu_by_length_en-fr"} <= drawn
    assert len([e for e in page.elements if e["tag"] == "svg"]) == len(drawn)
    ids = [e["id"] for e in page.elements if e.get("id")]
    assert len([name for name in ids if "-" in name]) == len({n for n in ids if "-" in n})


def test_same_files_same_bytes_and_run_metadata_stays_on_its_page(
    rendered: Path, trained: TrainingMetadata
) -> None:
    first = reports(rendered)
    figures = ("training_en-de", "training_en-fr")
    lengths = ("bleu_by_length_en-de", "bleu_by_length_en-fr")
    assert set(first) == {
        "index.html", "run_metadata.html",
        *(f"tables/table_{n}.{kind}" for n in (1, 2, 3, 4) for kind in ("md", "csv", "tex")),
        *(f"tables/{key}.{kind}" for key in ("findings", "text", "why_not") for kind in ("md", "csv", "tex")),
        *(f"figures/{name}.{kind}" for name in (*figures, *lengths) for kind in ("svg", "csv")),
    }  # fmt: skip
    assert b"an-invented-host" in first["run_metadata.html"]
    for path in rendered.glob("run_metadata/*.json"):
        metadata.write(path, trained.replace(host="elsewhere", seconds=99))
    assert render(rendered).returncode == 0
    second = reports(rendered)
    assert b"elsewhere" in second["run_metadata.html"]
    assert {n for n in first if first[n] != second[n]} == {"run_metadata.html"}
    assert not [
        name
        for name, content in first.items()
        if b"host" in content and name != "run_metadata.html"
    ]


def test_times_are_run_metadata(wmt14_project: Path) -> None:
    times = {
        f"n{n}": LayerTimes(
            n=n,
            forward_seconds=n / 1024,
            forward_bytes=n,
            training_seconds=n / 512,
            training_bytes=n,
        )
        for n in (8, 16)
    }
    layers = ProfilingMetadata(
        d=16, device="an-invented-device", threads=3, seconds=1.0, host="h", python="3", versions={},
        commit="unknown", layers={"self_attention": times, "lstm": times},
    )  # fmt: skip
    path = wmt14_project / paths.LAYERS_METADATA
    metadata.write(path, layers)
    assert render(wmt14_project).returncode == 0
    index, companion = (
        (wmt14_project / "reports" / name).read_text()
        for name in ("index.html", "run_metadata.html")
    )
    for text in ("an-invented-device; threads: 3", "Wall time against n"):
        assert text in companion
        assert text not in index
    assert not list((wmt14_project / "reports/figures").glob("*wall*"))
    path.write_text("{}")
    done = render(wmt14_project)
    assert re.fullmatch(r"DataError: run_metadata/profile_layers\.json: .*\n", done.stderr)


def test_text_from_data_is_escaped(
    project: Project, toy: dict[str, Any], scores_file: Maker, trained: TrainingMetadata
) -> None:
    folder = project(toy, {"en-de.base": scores_file("en-de.base", "toy-test", 40, 50.0)})
    (folder / "outputs/en-de.base/test.hypotheses").write_text(f"{SCRIPT}\n" * 40, encoding="utf-8")
    hostile = trained.replace(host=SCRIPT, versions={SCRIPT: SCRIPT})
    metadata.write(folder / paths.training_metadata("en-de.base"), hostile)
    assert render(folder).returncode == 0
    for name in ("index.html", "run_metadata.html"):
        text = (folder / "reports" / name).read_text(encoding="utf-8")
        page = Page(text)
        assert any(element["text"] == SCRIPT for element in page.elements)
        assert text.count("<script") == 1  # the page's own
    assert "<script" not in (folder / "reports/tables/table_2.md").read_text().replace("\\<", "")


def test_only_the_runs_of_params_are_read(rendered: Path) -> None:
    first = reports(rendered)
    for folder, ending in (("scores", "json"), ("history", "csv"), ("run_metadata", "train.json")):
        (rendered / folder / f"en-de.of-another-scale.{ending}").write_text(
            "not even a file of ours"
        )
    assert render(rendered).returncode == 0
    second = reports(rendered)
    assert b"of-another-scale" not in second.pop("run_metadata.html")
    assert second.items() <= first.items()


def test_a_project_before_its_first_run_has_a_page(project: Project, toy: dict[str, Any]) -> None:
    folder = project(toy, {})
    done = render(folder)
    assert (done.returncode, done.stderr) == (0, "")
    text = (folder / "reports/index.html").read_text(encoding="utf-8")
    assert "None of the 4 runs of the scale demo is scored yet." in text
    assert "None of the paper&#39;s 46 scores" in text
    shown = re.findall(r"<section id=\"([\w-]+)\">", text)
    assert shown == [
        "table_1", "table_2", "table_3", "table_4", "findings", "figures-of-tables", "why_not",
        "examples", "provenance",
    ]  # fmt: skip
    linked = re.findall(r'<a href="#([\w-]+)">', text.partition("</nav>")[0])
    assert linked == ["summary", *shown]
    assert (folder / "reports/figures").is_dir()


def test_a_broken_score_file_is_one_line_and_leaves_the_old_report(rendered: Path) -> None:
    before = reports(rendered)
    (rendered / "scores/en-de.base.json").write_text("{", encoding="utf-8")
    done = render(rendered)
    assert done.returncode == 1
    assert re.fullmatch(
        r"ScoreError: scores/en-de\.base\.json: not JSON .*"
        r"dvc repro -f score@en-de\.base\.\n",
        done.stderr,
    )
    assert reports(rendered) == before


def test_what_was_made_with_other_parameters_is_left_out(rendered: Path) -> None:
    """The state that DVC leaves until it has run the stage again."""
    params = yaml.load((rendered / "params.yaml").read_text(), yaml.CSafeLoader)
    used = {"training": {**params["training"], "warmup_steps": 7}}
    stages = {
        "train@en-de.base": {"params": {"params.yaml": used}},
        "train@en-de.big": {"params": {"params.yaml": {"training": params["training"]}}},
    }
    (rendered / "dvc.lock").write_text(yaml.dump({"schema": "2.0", "stages": stages}))
    done = render(rendered)
    assert (done.returncode, done.stderr) == (
        0,
        "en-de.base was run with other parameters (training): left out. Run it again: dvc repro.\n",
    )
    page = (rendered / "reports/index.html").read_text()
    assert "made with other values of training" in page
    assert "hypothesis of en-de.base" not in page
    assert "hypothesis of en-de.big" in page
    table = (rendered / "reports/tables/table_2.md").read_text()
    assert "- Not run: en-de.base, en-fr.big.\n" in table
    assert "en-de.base" not in (rendered / "reports/figures/training_en-de.csv").read_text()


def test_a_single_section_leaves_the_rest_unchanged(rendered: Path) -> None:
    first = reports(rendered)
    (rendered / "reports/tables/table_2.md").unlink()
    (rendered / "reports/index.html").write_text("of another day")
    done = render(rendered, "--only", "table_2")
    assert done.returncode == 0
    assert "reports/tables/table_2.md" in done.stdout.splitlines()
    assert reports(rendered) == {**first, "index.html": b"of another day"}


def test_a_section_that_does_not_exist_is_a_one_line_error(wmt14_project: Path) -> None:
    done = render(wmt14_project, "--only", "table-2")
    assert done.returncode == 1
    assert done.stderr == (
        "ConfigError: the report has no section 'table-2'. Did you mean table_2?\n"
    )
    assert not (wmt14_project / "reports").exists()


def test_the_manifest_is_part_of_the_provenance(rendered: Path) -> None:
    path = rendered / "data/text/en-de/manifest.json"
    text = (rendered / "reports/index.html").read_text()
    assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    assert json.loads(path.read_text())["splits"]["train"]["sha256"]["source"] in text
    assert "4,508,785 pairs" in text
    path.write_text("{}")
    done = render(rendered)
    assert re.fullmatch(
        r"DataError: .*manifest\.json: .* dvc repro -f download@en-de\.\n", done.stderr
    )


def test_nothing_heavy_is_imported(wmt14_project: Path) -> None:
    heavy = ("torch", "mlflow")
    code = (
        f"import runpy, sys; sys.argv = ['report.py']; "
        f"runpy.run_path({str(STAGE)!r}, run_name='__main__'); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=wmt14_project, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
