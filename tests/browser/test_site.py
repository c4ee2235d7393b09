"""The documentation site: it builds without warnings, its search works, and its pages load nothing
from other hosts."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=4000",
)  # fmt: skip
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("sphinx", "furo", "myst_parser"))),
    reason="the extra docs is not installed",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it: a broken link is a warning, and warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-E", "-b", "html", "-c", "docs"]
    cache = str(folder.with_name("doctrees"))
    done = subprocess.run(
        [*command, "-d", cache, ".", str(folder)], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


class Links(HTMLParser):
    """The addresses that a page loads, and those that it links to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster") or (tag, name) == ("link", "href"):
                self.loaded.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")


def pages(site: Path) -> Iterator[Path]:
    yield from sorted(site.rglob("*.html"))


def is_external(address: str) -> bool:
    return re.match(r"[a-z]+:|//", address) is not None and not address.startswith("data:")


def test_no_page_loads_anything_external(site: Path) -> None:
    found = {page: Links(page).loaded for page in pages(site)}
    assert sum(map(len, found.values())) > 300
    assert [
        address for loaded in found.values() for address in loaded if is_external(address)
    ] == []
    for sheet in site.rglob("*.css"):
        addresses = re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")]+)", sheet.read_text())
        assert not any(map(is_external, addresses)), sheet


def test_every_link_within_the_site_has_a_target(site: Path) -> None:
    broken = []
    for page in pages(site):
        for link in Links(page).links:
            path = unquote(link.partition("#")[0].partition("?")[0])
            if path and not is_external(link) and not (page.parent / path).exists():
                broken.append((str(page.relative_to(site)), link))
    assert broken == []


@pytest.mark.parametrize(
    "name", sorted(p.parent.name for p in ROOT.glob("reproductions/*/dvc.lock"))
)
def test_the_site_has_the_report_of_every_reproduction(site: Path, name: str) -> None:
    page = site / "reproductions" / name / "README.html"
    assert page.is_file()
    results = (site / "docs/results.html").read_text(encoding="utf-8")
    report = "reports" if name == "demo" else f"reproductions/{name}/reports"
    assert f'href="../{report}/index.html"' in results
    assert (site / report / "index.html").is_file()
    assert (site / report / "run_metadata.html").is_file()


def test_the_api_page_has_all_public_names(site: Path) -> None:
    page = (site / "docs/api.html").read_text(encoding="utf-8")
    for name in (
        "load",
        "read_results",
        "reproduction",
        "SHIPPED",
        "trained_run.TrainedRun.translate",
    ):
        assert f'id="aiayn.{name}"' in page


def browse(address: str, folder: Path) -> tuple[str, list[str]]:
    """The DOM of a page once it has loaded, and the addresses that it requested."""
    assert CHROMIUM
    log = folder / "net.json"
    command = [CHROMIUM, *QUIET, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"]
    done = subprocess.run(
        [*command, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True
    )
    started = (event.get("params", {}) for event in json.loads(log.read_text())["events"])
    # the browser's own requests have no origin
    requested = [
        found["url"]
        for found in started
        if "url" in found and found.get("initiator", "not an origin") != "not an origin"
    ]
    return done.stdout, requested


@needs_chromium
def test_the_search_finds_label_smoothing(site: Path, tmp_path: Path) -> None:
    dom, requested = browse(f"{(site / 'search.html').as_uri()}?q=label+smoothing", tmp_path)
    found = re.search(r'<ul[^>]* class="search">.*?</ul>', dom, re.DOTALL)
    assert found
    assert "Deviations from the paper" in html.unescape(found[0])
    assert requested == []
    dom, _ = browse(f"{(site / 'search.html').as_uri()}?q=xylophone", tmp_path)
    assert '<li class="kind-' not in dom


@needs_chromium
def test_no_page_makes_requests(site: Path, tmp_path: Path) -> None:
    """All pages at once, in frames; an external image is noticed."""
    frames = "".join(f'<iframe src="{page.as_uri()}"></iframe>' for page in pages(site))
    all_pages = tmp_path / "all.html"
    all_pages.write_text(f"<!doctype html>{frames}")
    dom, requested = browse(all_pages.as_uri(), tmp_path)
    assert dom.count("<iframe") > 40
    assert requested == []
    all_pages.write_text('<!doctype html><img src="https://example.org/x.png">')
    assert "https://example.org/x.png" in browse(all_pages.as_uri(), tmp_path)[1]
