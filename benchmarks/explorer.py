"""How fast the page of `make explorer` translates in headless Chromium: the first time, when the
model is loaded, and later. Prints a Markdown table.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.browser.chromium import CHROMIUM, Page, browser

FILE = Path("explorer/build/index.html")
TWELVE_WORDS = "The old man gave the little girl a red apple this morning."
LOADS, TRANSLATIONS = 5, 20
START_SECONDS = 60


def opened(page: Page, file: Path) -> float:
    """Open the page; the seconds until it shows a translation."""
    page.open(file.absolute().as_uri())
    deadline = time.monotonic() + START_SECONDS
    while not page.run("typeof explorer === 'object' && explorer.ready.then(() => true)"):
        assert time.monotonic() < deadline, "the page does not start"
        time.sleep(0.02)
    return float(page.run("performance.now()")) / 1000


def _translation(page: Page) -> float:
    """Milliseconds of one translation."""
    sentence = json.dumps(TWELVE_WORDS)
    timed = (
        "(async () => { const begun = performance.now();"
        f" await explorer.translate({sentence}, {{}}); return performance.now() - begun; }})()"
    )
    return float(page.run(timed))


def main() -> None:
    if CHROMIUM is None or not FILE.exists():
        sys.exit(f"benchmarks.explorer needs Chromium and {FILE}: make explorer")
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        page.screen(1280)
        first = [opened(page, FILE) for _ in range(LOADS)]
        later = [_translation(page) for _ in range(TRANSLATIONS)]
    print("| translation | best | median | worst |\n| --- | --: | --: | --: |")
    for name, times, unit in (
        ("first, page reloaded", first, "s"),
        ("12 words, later", later, "ms"),
    ):
        values = " | ".join(f"{f(times):.2f} {unit}" for f in (min, statistics.median, max))
        print(f"| {name} | {values} |")


if __name__ == "__main__":
    main()
