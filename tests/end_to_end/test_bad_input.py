"""What stages say when something is wrong: one line (what, where, what to do), exit status 1, and
every former output as it was."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

RUN = "en-de.base"
HOST = "corpora.example.org"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder as a web server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class Mirrored:
    """A project whose task en-de is nine pairs in gzipped files of a mirror."""

    def __init__(self, project: Any) -> None:
        self.project = project
        self.mirror = project.root / "mirror"
        params = yaml.load((project.root / "params.yaml").read_text(), yaml.CSafeLoader)
        corpora = {}
        for split in ("train", "dev", "test"):
            for language in ("en", "de"):
                lines = [f"{language} {split} {n}\n" for n in ("one", "two", "three")]
                self.put(f"{split}.{language}.gz", gzip.compress("".join(lines).encode(), mtime=0))
            sides = {language: {"download": f"{split}.{language}.gz"} for language in ("en", "de")}
            corpora[split] = {"sides": sides}
        text = {**params["tasks"]["en-de"]["text"], "train": ["train"], "dev": "dev"}
        project.set("tasks", "en-de", "text", value={**text, "tests": {"test": "test"}})
        project.set("catalogue", "corpora", value=corpora)
        self.declare()

    def path(self, name: str) -> Path:
        return Path(self.mirror / HOST / name)

    def put(self, name: str, content: bytes) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(content)

    def declare(self) -> None:
        """Put the files' checksums, as they are now, into the catalogue."""
        downloads = {
            file.name: {
                "url": f"http://{HOST}/{file.name}",
                "checksum": f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}",
                "licence": "none",
            }
            for file in (self.mirror / HOST).iterdir()
        }
        self.project.set("catalogue", "downloads", value=downloads)


@pytest.fixture
def mirrored(project: Any) -> Mirrored:
    return Mirrored(project)


def test_the_mirrored_task_is_sound(mirrored: Mirrored) -> None:
    """Else the tests below would show nothing."""
    outcome = mirrored.project.stage("download", "en-de", AIAYN_MIRROR="mirror")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    text = mirrored.project.root / "data/text/en-de/dev.target"
    assert text.read_text() == "de dev one\nde dev two\nde dev three\n"


def test_a_flipped_byte_in_an_archive(mirrored: Mirrored) -> None:
    content = bytearray(mirrored.path("train.de.gz").read_bytes())
    content[len(content) // 2] ^= 1
    mirrored.put("train.de.gz", bytes(content))
    error = mirrored.project.error("download", "en-de", AIAYN_MIRROR="mirror")
    assert error.startswith(f"DataError: mirror/{HOST}/train.de.gz: sha256 is ")
    assert "Correct the mirror" in error


def truncated(content: bytes) -> bytes:
    return content[:-12]


def shortened(content: bytes) -> bytes:
    return gzip.compress(b"".join(gzip.decompress(content).splitlines(keepends=True)[:2]))


def latin_1(content: bytes) -> bytes:
    return gzip.compress(gzip.decompress(content).replace(b"two", "zwölf".encode("latin-1")))


def emptied(content: bytes) -> bytes:
    return gzip.compress(b"")


@pytest.mark.parametrize(
    ("name", "damage", "expected"),
    [
        ("train.en.gz", truncated, ["train.en.gz: truncated", "Replace it with an intact copy"]),
        (
            "dev.de.gz",
            shortened,
            ["corpus dev: 3 lines in ", "but 2 lines in ", "aligned line by line"],
        ),
        ("dev.de.gz", latin_1, ["dev.de.gz, line 2: not UTF-8", "convert the file to UTF-8"]),
        ("test.de.gz", emptied, ["3 lines in ", "but 0 lines in ", "test.de.gz"]),
    ],
)
def test_a_spoilt_file_with_a_true_checksum(
    mirrored: Mirrored, name: str, damage: Callable[[bytes], bytes], expected: list[str]
) -> None:
    mirrored.put(name, damage(mirrored.path(name).read_bytes()))
    mirrored.declare()
    error = mirrored.project.error("download", "en-de", AIAYN_MIRROR="mirror")
    assert error.startswith("DataError: ")
    for words in expected:
        assert words in error


def test_both_files_of_a_corpus_empty(mirrored: Mirrored) -> None:
    for language in ("en", "de"):
        mirrored.put(f"train.{language}.gz", gzip.compress(b""))
    mirrored.declare()
    error = mirrored.project.error("download", "en-de", AIAYN_MIRROR="mirror")
    assert "corpus train: no line in " in error


def test_a_file_of_no_bytes_at_all(mirrored: Mirrored) -> None:
    for language in ("en", "de"):
        mirrored.put(f"train.{language}.gz", b"")
    mirrored.declare()
    error = mirrored.project.error("download", "en-de", AIAYN_MIRROR="mirror")
    assert error.startswith("DataError: ")
    assert f"{HOST}/train.en.gz" in error


def test_a_file_that_the_server_does_not_have(mirrored: Mirrored) -> None:
    mirrored.path("test.de.gz").unlink()
    with served(mirrored.mirror) as url:
        error = mirrored.project.error("download", "en-de", AIAYN_MIRROR=url)
    assert error.startswith(f"DataError: {url}/{HOST}/test.de.gz: HTTP 404 ")
    assert "Check the url in conf/catalogue" in error
    # what came whole is kept for the next time, and no half of a file
    kept = {path.name for path in (mirrored.project.root / "data/raw" / HOST).iterdir()}
    assert "train.en.gz" in kept <= {path.name for path in mirrored.path(".").iterdir()}


@pytest.mark.parametrize(
    ("stage", "item", "place"),
    [
        ("train_bpe", "en-de", "data/bpe"),
        ("encode", "en-de", "data/tokens"),
        ("average", RUN, "models"),
        ("decode", RUN, "outputs"),
        ("score", RUN, "scores"),
    ],
)
def test_a_place_that_cannot_be_written_to(project: Any, stage: str, item: str, place: str) -> None:
    """A file stands where the folder should be: a superuser may write to any folder."""
    # weights to average have to be there, so there it is the partial file that cannot be made
    if stage == "average":
        (project.root / f"models/{RUN}/.averaged.safetensors.partial").mkdir()
    else:
        folder = project.root / place
        folder.rename(project.root / "elsewhere")
        folder.write_text("a file, not a folder")
    error = project.error(stage, item)
    assert "Error: " in error
    assert place in error


def test_a_vocabulary_too_large_for_the_text(project: Any) -> None:
    project.set("tasks", "en-de", "bpe", "vocabulary", value=100_000)
    error = project.error("train_bpe", "en-de")
    assert error.startswith("ConfigError: bpe.vocabulary is 100000, too large for the text of ")
    assert "data/text/en-de/train.source" in error
    assert "use at most " in error


def test_a_training_that_diverges(project: Any) -> None:
    project.set("training", "learning_rate_scale", value=1e12)
    error = project.error("train", RUN)
    assert error.startswith(f"TrainingError: {RUN}: the loss is nan at step ")
    assert "Lower training.learning_rate_scale or raise training.warmup_steps" in error


def test_a_parameter_that_does_not_exist(project: Any) -> None:
    project.set("training", "warmup_step", value=4000)
    error = project.error("train", RUN)
    assert error.startswith("ConfigError: params.yaml: training.warmup_step is not a known key")
    assert "Did you mean warmup_steps?" in error


@pytest.mark.parametrize("stage", ["train", "average", "decode", "score"])
def test_a_run_that_does_not_exist(project: Any, stage: str) -> None:
    error = project.error(stage, "en-de.bsae")
    expected = "ConfigError: params.yaml: there is no run 'en-de.bsae'. Did you mean en-de.base?\n"
    assert error == expected
    if stage == "score":  # the lightest: the same of a process of its own
        outcome = project.run("python", "pipeline/score.py", "en-de.bsae")
        assert (outcome.returncode, outcome.stdout, outcome.stderr) == (1, "", expected)


@pytest.mark.parametrize("stage", ["train", "decode"])
def test_a_gpu_where_there_is_none(project: Any, stage: str) -> None:
    project.set("machine", "device", value="cuda")
    error = project.error(stage, RUN, CUDA_VISIBLE_DEVICES="")
    assert error.startswith("TrainingError: a GPU is asked for (machine.device, ")
    assert "or set machine.device to cpu." in error


@pytest.mark.parametrize(
    ("stage", "name"),
    [("average", "checkpoints/step-0000060.safetensors"), ("decode", "averaged.safetensors")],
)
def test_damaged_weights(project: Any, stage: str, name: str) -> None:
    weights = project.root / "models" / RUN / name
    weights.write_bytes(weights.read_bytes()[:-100])
    error = project.error(stage, RUN)
    assert error.startswith(f"CheckpointError: models/{RUN}/{name}: damaged")
    assert "train again" in error


def test_unusual_text_is_translated_line_by_line(project: Any) -> None:
    lines = [
        "<script>alert('x')</script>",
        "🙂 👩‍👩‍👧 is here",
        "",
        " ".join(["the"] * 3000),
        "a line with\u2028another kind of break",
        "the last line",
    ]
    source = project.root / "data/text/en-de/test.source"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    outcome = project.stage("decode", RUN)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    hypotheses = (project.root / f"outputs/{RUN}/test.hypotheses").read_bytes().decode()
    translated = hypotheses.removesuffix("\n").split("\n")
    assert len(translated) == len(lines)
    assert [not line for line in translated] == [not line for line in lines]
