"""Every number of ours on the page is traced back to the file that it claims to come from."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
Json = dict[str, Any]

FOLDERS = {"scores": ("splits",), "profiles": (), "comparisons": ()}
# a true minus or a bound, thousands separators, decimals; not the 17 of en-17
NUMBER = re.compile(r"(?<![\w.-])[<−-]?\d[\d,]*(?:\.\d+)?")
MILLIONS = re.compile(r"millions|×10⁶")


@dataclass(frozen=True)
class Trace:
    """A number as printed, its source (FILE:KEY.KEY), and the value there, None if there is none."""

    printed: str
    source: str
    value: float | None
    in_millions: bool

    @property
    def holds(self) -> bool:
        """Whether what is printed is the value, rounded to the digits printed."""
        if self.value is None:
            return False
        if self.printed.startswith("<"):
            return self.value < float(self.printed[1:])
        plain = self.printed.replace(",", "").replace("−", "-")
        decimals = len(plain.partition(".")[2])
        unit = 1e6 if self.in_millions else 1.0
        half = (0.5 * 10.0**-decimals + 1e-9) * unit
        return abs(float(plain) * unit - self.value) <= half


class _Cells(HTMLParser):
    """Elements with data-sources: their sources, text, and words of their row and column."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[list[str], str, str]] = []
        self.headings: list[str] = []
        self.column = 0
        self.first = ""  # text of the row's first cell
        self.open: tuple[str, list[str], str] | None = None  # tag, sources, context
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "thead":
            self.headings = []
        elif tag == "tr":
            self.column, self.first = 0, ""
        if tag in ("th", "td") or attributes.get("data-sources"):
            heading = self.headings[self.column] if tag == "td" else ""
            self.open = (tag, (attributes.get("data-sources") or "").split(), heading)
            self.text = ""
        if tag == "td":
            self.column += int(attributes.get("colspan") or 1)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        if self.open is None or self.open[0] != tag:
            return
        _, sources, heading = self.open
        if tag == "th":
            self.headings.append(self.text)
        if sources:
            self.found.append((sources, self.text, f"{heading} {self.first}"))
        self.first = self.first or self.text
        self.open = None


def traces(root: Path) -> Iterator[Trace]:
    """The traces of all our numbers on the page of a project.

    Raises:
        AssertionError: an element does not have as many numbers as sources.
    """
    page = (root / "reports/index.html").read_text(encoding="utf-8")
    for sources, text, context in _Cells(page).found:
        numbers = NUMBER.findall(text)
        assert len(numbers) == len(sources), (text, sources)
        in_millions = bool(MILLIONS.search(context))
        for number, source in zip(numbers, sources, strict=True):
            yield Trace(number, source, _value(root, source), in_millions)


def _value(root: Path, source: str) -> float | None:
    file, _, keys = source.partition(":")
    for folder, prefix in FOLDERS.items():
        path = root / folder / file
        if path.is_file():
            value: Any = json.loads(path.read_bytes())
            for key in (*prefix, *keys.split(".")):
                value = value.get(key) if isinstance(value, dict) else None
            return None if value is None else float(value)
    return None


def _cost(parameters: int) -> Json:
    return {
        "vocabulary": 37_000,
        "parameters": parameters,
        "forward_flops": {"source": 1_000_001, "target": 2_345_678},
        "training_flops": {"source": 3_000_003, "target": 7_037_034},
        "pair_flops": {"forward": 100_370_370, "training": 301_111_110},
    }


@pytest.fixture(scope="module")
def report_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the report, which is rendered only once."""
    return tmp_path_factory.mktemp("kept") / "reports"


@pytest.fixture
def rendered(
    report_cache: Path,
    project: Callable[..., Path],
    wmt14: Json,
    scores_file: Callable[..., Json],
    layers_json: Json,
) -> Path:
    """A page with all kinds of files behind it; three of four runs are scored, on two splits."""
    scores = {
        run: scores_file(run, f"newstest2014-{run[3:5]}-en", 3003, bleu)
        for run, bleu in (("en-de.base", 27.1), ("en-de.big", 29.25), ("en-fr.base", 38.1))
    }
    folder = project(wmt14, scores)
    paper = {"base": _cost(63_045_632), "big": _cost(214_171_648)}
    models = {"sentence_pieces": 30, "models": {"base": {"en-de": _cost(411_904)}}, "paper": paper}
    seed = {"run": "en-de.base", "perplexity": 5.25, "bleu": 25.6}
    measures = {
        "perplexity": {"mean": 5.2486, "sd": 0.0312, "outcome": "undecided"},
        "bleu": {"mean": 25.6171, "sd": 0.1249, "outcome": "undecided"},
    }
    bounds = {"low": -1.2345, "high": 0.3214, "p_value": 0.1234, "corrected": 0.2468, "count": 2}
    varied = {
        name: {**measure, "effect": {"value": -0.4567, **bounds}}
        for name, measure in measures.items()
    }
    dev = json.loads((folder / "data/text/en-de/manifest.json").read_text())["splits"]["dev"]
    comparison = {
        "task": "en-de", "base": "base", "split": "dev", "signature": "hand-made",
        "test_set": {key: dev[key] for key in ("corpora", "pairs", "sha256")},
        "findings": {
            "one_head": {"verdict": "undecided", "effect": {"value": -0.4567, **bounds}},
            "averaging": {"verdict": "holds at this scale", "effect": {"value": 0.4321, **bounds}},
        },
        "modes": {"en-de.base": {"last": 25.6, "averaged": 26.0321, "greedy": 25.1}},
        "models": {
            "base": measures | {"seeds": {"1": seed, "2": seed}},
            "big": varied | {"seeds": {"1": {**seed, "run": "en-de.big"}}},
        },
    }  # fmt: skip
    files = {
        "profiles/layers.json": layers_json,
        "profiles/models.json": models,
        "comparisons/table_3.json": comparison,
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    if not report_cache.exists():
        command = [sys.executable, str(ROOT / "pipeline/report.py")]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        shutil.copytree(folder / "reports", report_cache)
    shutil.copytree(report_cache, folder / "reports", dirs_exist_ok=True)
    return folder


def test_every_number_of_ours_is_in_its_file(rendered: Path) -> None:
    found = list(traces(rendered))
    assert [trace for trace in found if not trace.holds] == []
    source_files = {trace.source.partition(":")[0] for trace in found}
    runs = {"en-de.base.json", "en-de.big.json", "en-fr.base.json"}
    assert source_files == runs | {"layers.json", "models.json", "table_3.json"}


def test_another_number_in_the_file_is_noticed(rendered: Path) -> None:
    path = rendered / "comparisons/table_3.json"
    path.write_text(path.read_text().replace("25.6171", "25.6271", 1))
    wrong = [trace for trace in traces(rendered) if not trace.holds]
    assert [(trace.printed, trace.value) for trace in wrong] == [("25.62", 25.6271)]
    path.unlink()
    assert {t.source.partition(":")[0] for t in traces(rendered) if not t.holds} == {path.name}


@pytest.mark.parametrize(
    ("printed", "value", "in_millions", "holds"),
    [
        ("27.10", 27.104, False, True),
        ("27.10", 27.106, False, False),
        ("−1.33", -1.3349, False, True),
        ("1,234", 1234.0, False, True),
        ("1,234", 1235.0, False, False),
        ("63.0", 63_045_632.0, True, True),
        ("63.1", 63_045_632.0, True, False),
        ("63.0", 63_045_632.0, False, False),
        ("<0.0001", 0.00009, False, True),
        ("<0.0001", 0.0001, False, False),
    ],
)
def test_a_number_is_its_value_rounded_to_the_digits_printed(
    printed: str, value: float, in_millions: bool, holds: bool
) -> None:
    assert Trace(printed, "x.json:y", value, in_millions).holds is holds


def test_training_flops_are_pieces_trained_on_times_the_cost_of_one(rendered: Path) -> None:
    """The only figure of ours that is in no file: its note names the two that it comes from."""
    with (rendered / "history/en-de.base.csv").open() as file:
        tokens = int([*csv.DictReader(file)][-1]["tokens"])
    assert f"{tokens * (3_000_003 + 7_037_034):.1e}" == "3.0e+10"
    table = (rendered / "reports/tables/table_2.md").read_text()
    assert "3.0·10¹⁰" in table.partition("## All translation scores")[2]
