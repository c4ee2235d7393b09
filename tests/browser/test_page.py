"""The page in a real browser, by chromium's command line alone.

A harness page has the report in an iframe of a phone's width. A probe, appended to a copy of the
report, measures it there and posts the result to its parent, whose DOM chromium then prints.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.forked_python import programs

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=2000", "--hide-scrollbars",
)  # fmt: skip
PHONE_PIXELS = 380
OWNED = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
MEASURES = {
    "translation": ("bleu", "chrf", "tokenized_bleu", "compound_split_bleu", "lowercased_bleu"),
    "parsing": ("bracket_f1", "bracket_precision", "bracket_recall", "exact_match"),
}
PROBE = """<script>
addEventListener("load", () => {
  const cells = [...document.querySelectorAll("[data-sources]")];
  const links = [...document.querySelectorAll("a[href^='#']")].map(a => a.getAttribute("href"));
  const opened = new Map();
  for (const link of new Set(links)) {
    const target = document.getElementById(decodeURIComponent(link.slice(1)));
    location.hash = link;
    opened.set(link, Boolean(target) && target.checkVisibility());
  }
  parent.postMessage({
    width: document.documentElement.scrollWidth,
    screen: innerWidth,
    title: document.title,
    scripts: document.scripts.length,
    images: document.images.length,
    cells: cells.length,
    links: links.length,
    closed: [...opened].filter(([, open]) => !open).map(([link]) => link),
    dark: getComputedStyle(document.body).backgroundColor,
  }, "*");
});
</script>"""
HARNESS = """<!doctype html><title>harness</title><pre id="found"></pre>
<iframe src="%s" style="width: %dpx; height: 800px; border: 0"></iframe>
<script>
addEventListener("message", event => {
  document.getElementById("found").textContent = JSON.stringify(event.data);
});
</script>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def browse(page: Path, profile: Path, *flags: str) -> tuple[str, list[str]]:
    """The DOM of a page once it is loaded, and what was written to its console."""
    assert CHROMIUM
    command = [CHROMIUM, *QUIET, f"--user-data-dir={profile}", *flags, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def probe(page: Path, folder: Path, *flags: str) -> dict[str, Any]:
    """What the probe found in `page` on a phone's screen."""
    (folder / "probed.html").write_text(
        page.read_text(encoding="utf-8").replace("</body>", f"{PROBE}</body>"), encoding="utf-8"
    )
    harness = folder / "harness.html"
    harness.write_text(HARNESS % ("probed.html", PHONE_PIXELS))
    dom, console = browse(harness, folder / "profile", *flags)
    assert not console
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found
    assert found[1], "the probe did not answer"
    result: dict[str, Any] = json.loads(html.unescape(found[1]))
    return result


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of all runs of params.yaml that write sentences or trees and of three more; its texts
    try to run a script."""
    root = tmp_path_factory.mktemp("project")
    params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    kinds = {task: entry["kind"] for task, entry in params["tasks"].items()}
    params["runs"] = {n: run for n, run in params["runs"].items() if kinds[run["task"]] in MEASURES}
    params["tested"] = [run for run in params["tested"] if run in params["runs"]]
    for n in range(3):
        params["runs"][f"en-de.variation_{n}"] = {"task": "en-de", "model": "base", "seed": n}
    (root / "params.yaml").write_text(yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper))
    for task in ("en-de", "en-fr"):
        text = root / "data/text" / task
        text.mkdir(parents=True)
        for side in ("source", "target"):
            lines = [f"{side} {'word ' * (n % 9)}{'W' * 60} {OWNED}" for n in range(40)]
            (text / f"test.{side}").write_text("\n".join(lines) + "\n")
    for folder in ("scores", "history"):
        (root / folder).mkdir()
    for n, (run, entry) in enumerate(params["runs"].items()):
        outputs = root / "outputs" / run
        outputs.mkdir(parents=True)
        lines = [f"target {'word ' * (line % 7)}{OWNED} {n}" for line in range(40)]
        (outputs / "test.hypotheses").write_text("\n".join(lines) + "\n")
        score = {"value": 20.25 + n, "low": 19.5, "high": 22.75, "signature": OWNED}
        identity = {
            "corpora": {"demo-test": {"pairs": 40}},
            "pairs": 40,
            "sha256": {"source": "5a" * 32},
        }
        measures = MEASURES[params["tasks"][entry["task"]]["kind"]]
        counts = {"sentences": 40, "repaired": 3, "skipped": 0}
        splits = {"test": {"set": identity, "counts": counts, **dict.fromkeys(measures, score)}}
        content = {"run": run, "splits": splits} | {key: entry[key] for key in ("task", "model")}
        (root / f"scores/{run}.json").write_text(json.dumps(content))
        last = params["models"][entry["model"]]["steps"]
        rows = "".join(
            f"{step},1,{step},0.001,{5 / step},1,{9 / step}\n" for step in (*range(1, 8), last)
        )
        heading = "step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity\n"
        (root / f"history/{run}.csv").write_text(heading + rows)
    bounds = {"low": -10.25, "high": 1.5, "p_value": 0.5, "corrected": 1, "count": 5}
    measured = {
        measure: {
            "mean": 101.25,
            "sd": 10.5,
            "outcome": "undecided",
            "effect": {"value": -4.5, **bounds},
        }
        for measure in ("perplexity", "bleu")
    }
    rows_of_table_3 = {
        entry["model"]: measured | {"seeds": {"1": {"run": run, "perplexity": 4.5, "bleu": 20.0}}}
        for run, entry in params["runs"].items()
        if entry["task"] == "en-de"
    }
    comparison = {
        "task": "en-de", "base": "base", "split": "dev", "signature": OWNED, "modes": {}, "findings": {},
        "models": rows_of_table_3,
        "test_set": {"corpora": {"demo-dev": {"pairs": 40}}, "pairs": 40, "sha256": {}},
    }  # fmt: skip
    (root / "comparisons").mkdir()
    (root / "comparisons/table_3.json").write_text(json.dumps(comparison))
    command = [programs.python(), str(ROOT / "pipeline/report.py")]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return root / "reports/index.html"


def test_the_page_loads_without_console_messages(page: Path, tmp_path: Path) -> None:
    for name in ("index.html", "run_metadata.html"):
        dom, console = browse(page.with_name(name), tmp_path / "profile")
        assert "</html>" in dom
        assert console == []


def test_errors_are_noticed(tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text("<!doctype html><script>missing()</script>")
    _, console = browse(broken, tmp_path / "profile")
    assert "missing is not defined" in "".join(console)


def test_on_a_phone(page: Path, tmp_path: Path) -> None:
    found = probe(page, tmp_path)
    assert found["screen"] == PHONE_PIXELS
    assert found["width"] == PHONE_PIXELS, "the page scrolls sideways"
    assert found["cells"] > 7 * 5
    assert found["links"] > 7 * 5
    assert found["closed"] == [], "links that do not open what they point to"


def test_a_page_that_is_too_wide_is_noticed(page: Path, tmp_path: Path) -> None:
    wide = tmp_path / "wide.html"
    text = page.read_text(encoding="utf-8")
    wide.write_text(text.replace("<main>", "<main><div style='width: 500px'>wide</div>"))
    assert probe(wide, tmp_path)["width"] >= 500


def test_text_from_data_is_escaped(page: Path, tmp_path: Path) -> None:
    found = probe(page, tmp_path)
    assert found["title"].startswith("Attention Is All You Need")
    assert (found["scripts"], found["images"]) == (2, 0)  # the page's and the probe
    assert OWNED[:20] in html.unescape(page.read_text(encoding="utf-8"))


def test_it_has_a_dark_theme(page: Path, tmp_path: Path) -> None:
    backgrounds = {
        scheme: [
            int(part)
            for part in re.findall(
                r"\d+", probe(page, tmp_path, f"--blink-settings=preferredColorScheme={n}")["dark"]
            )
        ]
        for scheme, n in (("dark", 0), ("light", 1))
    }
    assert max(backgrounds["dark"]) < 60
    assert min(backgrounds["light"]) > 230


def test_it_prints(page: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.pdf"
    browse(page, tmp_path / "profile", f"--print-to-pdf={out}", "--no-pdf-header-footer")
    assert out.read_bytes().startswith(b"%PDF")


def test_it_is_small_enough_to_send(page: Path) -> None:
    assert page.stat().st_size < 3_000_000
