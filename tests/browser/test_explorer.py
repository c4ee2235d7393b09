"""explorer/build/index.html in a real browser: it translates as PyTorch does, makes no requests, and works on any
screen and by keyboard."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks.explorer import TWELVE_WORDS, opened
from tests.browser.chromium import CHROMIUM, Page, browser

import aiayn
from aiayn.trained_run import TrainedRun

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = "raw.githubusercontent.com/Helsinki-NLP/OPUS-MT-testsets/ac0f19c0be3cb4e0d9450fcb2d7a9847c4bdd180"
TEST_SET = f"{CATALOGUE}/testsets/deu-eng/tatoeba-test-v2021-08-07.eng"
BUILD_SECONDS = 300
MEGABYTES = 25
SENTENCES = (
    "Where is the nearest railway station?",
    "She never listens to me.",
    "My brother wants to buy a new car next year.",
    "I don't know what you are talking about.",
    "The children are playing in the garden.",
    "Could you please close the window?",
    "It was raining when we left the house.",
    "He told me that he had lost his keys.",
    "How much does this book cost?",
    "If I had known that, I would have called you.",
    "There is a cat under the table.",
    "We have been waiting for two hours.",
    "Don't be afraid of the dog!",
    "Tom gave his sister an expensive present.",
    "The old man gave the little girl a red apple today.",
)
ODD = ("", " ", "two  spaces ", "Grüße aus Köln", "naïve \u4f60\u597d \U0001f600", "\ttab", "x" * 50, "<0x0A>", "</s> <s>")  # fmt: skip
CONTROLS = {"button", "textbox", "slider", "radio", "switch", "checkbox"}
OFFLINE = re.compile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT")

for program in ("node", "npm", "make"):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed", allow_module_level=True)
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)
for package in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(package, reason="the extra onnx is not installed")


@pytest.fixture(scope="module")
def file() -> Path:
    """The page, built if its sources have changed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["make", "-o", ".venv/.ready", "explorer"],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
    )
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("npm cannot reach its registry")
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "explorer/build/index.html"


@pytest.fixture(scope="module")
def page(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.screen(1280)
        opened(page, file)
        yield page


@pytest.fixture(scope="module")
def run() -> TrainedRun:
    return aiayn.load(aiayn.SHIPPED)


@pytest.fixture(scope="module")
def test_set() -> list[str]:
    """The sentences of the shipped model's test set, which this repository may not contain."""
    file = ROOT.parent / "shared/mirror" / TEST_SET
    if not file.is_file():
        pytest.skip("needs ../shared/mirror with Tatoeba's test set in it")
    return file.read_text(encoding="utf-8").splitlines()


def translated(page: Page, sentences: Sequence[str], **settings: float) -> list[str]:
    arguments = f"{json.dumps(sentences)}, {json.dumps(settings)}"
    found: list[str] = page.run(
        "(async (sentences, settings) => { const found = []; for (const sentence of sentences)"
        " found.push((await explorer.translate(sentence, settings)).text); return found; })"
        f"({arguments})"
    )
    return found


def text(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector({json.dumps(selector)}).textContent"))


def wait_until(page: Page, script: str) -> None:
    """Wait until a JavaScript expression is true."""
    deadline = time.monotonic() + 30
    while not page.run(script):
        assert time.monotonic() < deadline, script
        time.sleep(0.02)


def enter(page: Page, sentence: str, **sliders: float) -> None:
    """Type a sentence and set sliders like a user, and wait for the translation."""
    values = {"sentence": sentence, "beam": 4, "alpha": 0.6} | sliders
    for name, value in values.items():
        page.run(
            f"{{ const field = document.getElementById('{name}'); field.value = {json.dumps(value)};"
            " field.dispatchEvent(new Event('input', {bubbles: true})); }"
        )
    page.run("document.getElementById('status').textContent = ''")
    wait_until(page, "document.getElementById('status').textContent.includes('translated in')")


@pytest.mark.parametrize("settings", [{}, {"beam": 1}, {"beam": 8, "alpha": 1.5}], ids=str)
def test_translations_are_pytorchs(page: Page, run: TrainedRun, settings: dict[str, Any]) -> None:
    expected = run.translate(SENTENCES, **settings)
    assert translated(page, SENTENCES, **settings) == expected
    assert len(set(expected)) == len(SENTENCES)


def test_98_of_100_sentences_of_the_test_set(
    page: Page, run: TrainedRun, test_set: list[str]
) -> None:
    sentences = test_set[:: len(test_set) // 100][:100]
    expected = run.translate(sentences)
    same = sum(a == b for a, b in zip(translated(page, sentences), expected, strict=True))
    assert same >= 98


def pieces(page: Page, sentences: Sequence[str]) -> list[list[int]]:
    found: list[list[int]] = page.run(f"{json.dumps(sentences)}.map(explorer.encode)")
    return found


def test_pieces_are_sentencepieces(page: Page, run: TrainedRun) -> None:
    for sentence, found in zip(ODD, pieces(page, ODD), strict=True):
        assert (sentence, found) == (sentence, run.vocabulary.encode([sentence])[0])


def test_pieces_of_the_whole_test_set(page: Page, run: TrainedRun, test_set: list[str]) -> None:
    assert pieces(page, test_set) == run.vocabulary.encode(test_set)


def test_weight(file: Path) -> None:
    """With the runtime and the model; benchmarks/explorer.py has its speed."""
    assert file.stat().st_size <= MEGABYTES * 1e6


def test_it_shows_the_models_attention(page: Page, run: TrainedRun) -> None:
    """For every kind, in one head, the screen reader's label of every piece."""
    sentence = SENTENCES[1]
    enter(page, sentence)
    maps = run.attention(sentence).maps
    for kind in ("encoder", "decoder", "cross"):
        page.run(f"document.querySelector('input[value={kind}]').click()")
        page.run("document.querySelectorAll('#thumbnails button')[7].click()")
        assert text(page, "#chosen-head") == "Layer 2, head 2"
        labels = page.run("[...document.querySelectorAll('#queries button')].map(b => b.ariaLabel)")
        rows = maps[kind][1][1]
        assert len(labels) == len(rows)
        for label, weights in zip(labels, rows, strict=True):
            largest = int(re.findall(r"(\d+) %", label)[0])
            assert largest == pytest.approx(100 * max(weights), abs=0.6)
    page.run("document.querySelectorAll('#queries button')[1].focus()")
    shares = page.run(
        "[...document.querySelectorAll('#keys small')].map(e => parseInt(e.textContent) || 0)"
    )
    assert shares == pytest.approx([100 * w for w in maps["cross"][1][1][1]], abs=0.6)


def test_a_chosen_pieces_weights_stay_when_the_pointer_has_passed_over_another(page: Page) -> None:
    enter(page, SENTENCES[1])
    shown = (
        "[...document.querySelectorAll('#queries .chosen, #keys small')].map(e => e.textContent)"
    )
    page.run("document.querySelectorAll('#queries button')[1].click()")
    chosen = page.run(shown)
    assert any("%" in part for part in chosen)
    found = []
    for event in ("pointerenter", "pointerleave"):
        page.run(
            "document.querySelectorAll('#queries button')[2]"
            f".dispatchEvent(new PointerEvent('{event}'))"
        )
        found.append(page.run(shown))
    assert found[0] != chosen
    assert found[1] == chosen


def test_a_sentence_that_is_too_long_is_not_translated(page: Page) -> None:
    enter(page, SENTENCES[0])
    page.run(
        "{ const field = document.getElementById('sentence'); field.value = '\u4f60'.repeat(120);"
        " field.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    status = "361 pieces; this page takes 128 at most. Shorten the sentence."
    wait_until(page, f"document.getElementById('status').textContent === '{status}'")
    assert text(page, "#translation") == ""
    assert page.run("document.getElementById('results').hidden")


def test_a_head_that_is_off_is_off_in_pytorch_too(page: Page) -> None:
    """The new translation, and the log-probability of the previous one."""
    sentence, (layer, head) = SENTENCES[0], (0, 5)
    enter(page, sentence)
    before = text(page, "#translation")
    page.run(f"document.querySelectorAll('#switches-cross button')[{6 * layer + head}].click()")
    wait_until(page, "!document.getElementById('loss').hidden")
    reference = aiayn.load(aiayn.SHIPPED)
    assert reference.translate([sentence]) == [before]
    model = reference.transformer
    with torch.no_grad():
        w_o = model.decoder_layers[layer].cross_attention.w_o.weight
        w_o[:, 32 * head : 32 * (head + 1)] = 0
    assert text(page, "#translation") == reference.translate([sentence])[0]
    source, target = reference.vocabulary.encode([sentence, before], end=True)
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([[2, *target[:-1]]]))[0]
    logits[:, [0, 2]] = float("-inf")
    score = logits.log_softmax(1)[range(len(target)), target].sum().item()
    shown = re.findall(r"[−\d.]+(?= now)", text(page, "#loss-title"))[0]
    assert float(shown.replace("−", "-")) == pytest.approx(score, abs=0.006)
    page.run("document.getElementById('all-on').click()")
    wait_until(page, f"document.getElementById('translation').textContent === {json.dumps(before)}")


def test_every_head_is_measured(page: Page) -> None:
    enter(page, SENTENCES[1])
    page.run("document.getElementById('measure').click()")
    labels = "[...document.querySelectorAll('.switches button')].map(b => b.ariaLabel)"
    wait_until(page, f"{labels}.every(label => label.includes('costs'))")
    costs = [float(label.split("costs ")[1].replace("−", "-")) for label in page.run(labels)]
    assert len(costs) == 54
    assert max(costs) > 1
    enter(page, SENTENCES[2])
    assert not any("costs" in label for label in page.run(labels))


def test_the_search_is_shown_step_by_step(page: Page, run: TrainedRun) -> None:
    """Twice the beam of candidates in each step; the winner's score is PyTorch's."""
    enter(page, SENTENCES[3], beam=3, alpha=1.2)
    best = run.hypotheses([SENTENCES[3]], beam=3, alpha=1.2).iloc[0]
    winner = text(page, "#tree-nodes .best.ended small").removeprefix("score ").replace("−", "-")
    assert float(winner) == pytest.approx(best.score, abs=0.006)
    for step in (1, 4):
        page.run(
            f"{{ const step = document.getElementById('step'); step.value = {step};"
            " step.dispatchEvent(new Event('input')); }"
        )
        rows = "[...document.querySelectorAll('#candidates tr')]"
        assert page.run(f"{rows}.length") == 6
        assert page.run(f"{rows}.filter(row => row.className === 'live').length") == 3
        assert float(text(page, "#penalty").split("= ")[1]) == pytest.approx(
            ((5 + step) / 6) ** 1.2, abs=0.006
        )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_any_screen(page: Page, width: int, dark: bool) -> None:
    page.screen(width, dark=dark)
    enter(page, TWELVE_WORDS)
    assert page.run("document.documentElement.scrollWidth") == width
    found = page.run("getComputedStyle(document.documentElement).backgroundColor")
    brightness = max(map(int, re.findall(r"\d+", found)))
    assert (brightness < 60) == dark
    page.screen(1280)


def test_every_control_has_a_name(page: Page) -> None:
    enter(page, SENTENCES[0])
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and node["role"]["value"] in CONTROLS
    ]
    assert len(named) > 100
    assert [role for role, name in named if not name.strip()] == []
    assert {role for role, _ in named} >= {"button", "textbox", "slider", "radio", "switch"}


def test_all_controls_by_keyboard(page: Page) -> None:
    """From the sentence to a head's weights and to switching a head off; each group is one tab stop."""
    enter(page, SENTENCES[0])
    page.run("document.querySelector('input[value=cross]').click()")
    page.run("document.getElementById('sentence').focus()")
    focus = "document.activeElement"
    where = f"{focus}.id || {focus}.name || {focus}.closest('[id]').id"
    stops = []
    while (stop := page.run(where)) != "position":
        stops.append(stop)
        assert len(stops) < 40, stops
        page.press("Tab")
    assert len(stops) == len({*stops}) + 2, stops  # each of the three examples is a stop
    for expected in ("beam", "alpha", "thumbnails", "head-on", "queries", "tree", "tree-nodes", "play", "step", "switches-encoder", "measure"):  # fmt: skip
        assert expected in stops
    page.run("document.querySelector('#thumbnails button').focus()")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.press(key)
    assert text(page, "#chosen-head") == "Layer 2, head 2"
    assert page.run("document.activeElement.ariaLabel") == "Layer 2, head 2"
    page.run("document.getElementById('head-on').focus()")
    page.send("Input.dispatchKeyEvent", type="keyDown", key=" ", text=" ")
    page.send("Input.dispatchKeyEvent", type="keyUp", key=" ")
    wait_until(page, "!document.getElementById('loss').hidden")
    page.run("document.getElementById('all-on').focus()")
    page.press("Enter")
    wait_until(page, "document.getElementById('loss').hidden")
    assert page.run(where) == "all-on"


def test_nothing_leaves_the_page(page: Page, file: Path) -> None:
    """After the other tests: no request except for the file, nothing on the console; and requests are blocked."""
    requested = {address.partition("?")[0] for address in page.requests()}
    assert requested <= {file.as_uri(), "about:blank"}
    assert page.console_messages() == []
    blocked = "fetch('https://example.org').then(() => 'sent', error => String(error))"
    assert "Failed to fetch" in page.run(blocked)
    assert "Content Security Policy" in "".join(page.console_messages())
