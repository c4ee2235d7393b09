"""Cases of bad input with the error message of each.

Each ends in one line (what, where, what to do) and a non-zero exit code, and leaves all files, in the
project and around it, unchanged. Mistakes in conf/ are in tests/commands/repro/test_params.py, wrong
values of single parameters in tests/test_config.py, broken connections in tests/data/corpora, and what
needs a whole graph in tests/end_to_end/test_bad_input.py.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import runpy
import shutil
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from aiayn import config
from aiayn.commands import main
from aiayn.config import Model
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.corpora.archives import LINE_BYTES
from aiayn.model.checkpoints import load_weights, save_weights
from aiayn.model.transformer import Transformer
from aiayn.results import history
from aiayn.results.checkpoints import Weights
from aiayn.results.history import History, Line

ROOT = Path(__file__).parents[2]
RUN = "en-de.base"
HOST = "corpora.example.org"
WORDS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
WEIGHTS = Path("models") / RUN / "averaged.safetensors"
TEXT = Path("data/text/en-de")
OUTPUTS = Path("outputs") / RUN

Damage = Callable[["Project"], object]


class Project:
    """A small project in the current folder, and a mirror beside it."""

    mirror = Path("../mirror") / HOST

    def set(self, *path: str, value: Any) -> None:
        """Set a parameter; a path of keys, because names hold dots."""
        params = yaml.load(Path("params.yaml").read_text(), yaml.CSafeLoader)
        mapping = params
        for key in path[:-1]:
            mapping = mapping[key]
        mapping[path[-1]] = value
        Path("params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))

    def rename(self, section: str, old: str, new: str) -> None:
        """Rename an entry of the parameters."""
        params = yaml.load(Path("params.yaml").read_text(), yaml.CSafeLoader)
        params[section][new] = params[section].pop(old)
        Path("params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))

    def serve(self, name: str, content: bytes, member: str | None = None) -> None:
        """Put CORPUS.LANGUAGE.* into the mirror and, with its checksum, into the catalogue, as that
        language's side of that corpus."""
        self.mirror.mkdir(parents=True, exist_ok=True)
        (self.mirror / name).write_bytes(content)
        corpus, language = name.split(".")[:2]
        self.set("catalogue", "downloads", f"{corpus}-{language}", value={
            "url": f"http://{HOST}/{name}",
            "checksum": f"sha256:{hashlib.sha256(content).hexdigest()}",
            "licence": "none",
        })  # fmt: skip
        side = {"download": f"{corpus}-{language}", "member": member}
        self.set("catalogue", "corpora", corpus, "sides", language, value=side)


def stage(name: str, item: str) -> None:
    """Run a stage's script as dvc.yaml does, in this process."""
    before = sys.argv, os.environ.get("AIAYN_MIRROR")
    sys.argv = [f"pipeline/{name}.py", item]
    os.environ.setdefault("AIAYN_MIRROR", "../mirror")
    try:
        runpy.run_path(str(ROOT / "pipeline" / f"{name}.py"), run_name="__main__")
    finally:
        sys.argv = before[0]
        if before[1] is None:
            del os.environ["AIAYN_MIRROR"]


def text_of(split: str, language: str) -> bytes:
    lines = [f"{language} {split} {a} {b} {c}\n" for a in WORDS for b in WORDS for c in WORDS[:4]]
    return "".join(lines if split == "train" else lines[:3]).encode()


@pytest.fixture(scope="module")
def finished_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of a run with random weights, from the mirror to the scores."""
    home = tmp_path_factory.mktemp("finished_project")
    (home / "project").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home / "project")
        _run_stages(Project())
    return home


def _run_stages(project: Project) -> None:
    shutil.copy(ROOT / "dvc.yaml", ".")
    params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    row = Model(
        N=1, d_model=16, d_ff=32, h=2, d_k=8, d_v=8, P_drop=0.1, eps_ls=0.1, steps=8,
        positions="sinusoid", average=1, checkpoint_steps=8,
    )  # fmt: skip
    params["models"] = {"base": row.columns}
    params["runs"] = {RUN: params["runs"][RUN]}
    params["tasks"] = {"en-de": params["tasks"]["en-de"]}
    params |= {"tested": [RUN], "variations": {"task": "en-de", "base": "base"}}
    task = params["tasks"]["en-de"]
    task["text"] |= {"train": ["train"], "dev": "dev", "tests": {"test": "test"}}
    task["bpe"]["vocabulary"] = 300
    task["decoding"] |= {"extra_length": 2, "beam": 2}
    splits = ("train", "dev", "test")
    params["catalogue"] = {"downloads": {}, "corpora": {name: {"sides": {}} for name in splits}}
    Path("params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))
    for split in splits:
        for language in ("en", "de"):
            project.serve(f"{split}.{language}.gz", gzip.compress(text_of(split, language)))
    for name in ("download", "train_bpe", "encode"):
        stage(name, "en-de")
    size = Bpe(Path("data/bpe/en-de/model.model")).size
    torch.manual_seed(1)
    metadata = Weights(run=RUN, model=row.columns, seed=1, max_length=32, step=8)
    for path in (WEIGHTS, WEIGHTS.parent / "checkpoints/step-0000008.safetensors"):
        path.parent.mkdir(parents=True, exist_ok=True)
        save_weights(path, Transformer(row, size, max_length=32).state_dict(), metadata)
    line = Line(
        step=8, epoch=1.0, tokens=9, learning_rate=0.1, loss=2.0, dev_loss=1.5, dev_perplexity=4.5
    )
    history.write(Path(f"history/{RUN}.csv"), History((line,)))
    stage("decode", RUN)
    stage("score", RUN)


@pytest.fixture
def project(finished_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    shutil.copytree(finished_project, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "project")
    return Project()


def tree(folder: Path) -> dict[str, str]:
    """Every file and link below a folder, by path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check_error(project: Project, damage: Damage, run: Callable[[], object], expected: str) -> None:
    """Check the error message, and that no file changes."""
    damage(project)
    before = tree(Path(".."))
    with pytest.raises(SystemExit) as error:
        run()
    message = error.value.code
    assert isinstance(message, str), "a message, and so status 1"
    assert expected in message
    assert message.isprintable(), "one line without control characters"
    assert tree(Path("..")) == before


def tgz(content: bytes, flipped_byte: int = -1) -> bytes:
    """An archive of two members; one byte may be flipped before compression."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("first\x1b[2J", "train.en"):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    plain = bytearray(buffer.getvalue())
    if flipped_byte >= 0:
        plain[flipped_byte] ^= 1
    return gzip.compress(plain)


def write(path: str | Path, content: bytes) -> Damage:
    return lambda _: Path(path).write_bytes(content)


def serve(name: str, content: bytes, member: str | None = None) -> Damage:
    return lambda project: project.serve(name, content, member)


def replace_by_folder(path: str | Path) -> Damage:
    def replace(_: Project) -> None:
        Path(path).unlink()
        Path(path).mkdir()

    return replace


def replace_by_file(path: str | Path) -> Damage:
    def replace(_: Project) -> None:
        shutil.rmtree(path)
        Path(path).write_bytes(b"mine")

    return replace


def endless_training_text(project: Project) -> None:
    for language in ("en", "de"):
        project.serve(f"train.{language}.gz", gzip.compress(bytes(LINE_BYTES + 1)))


def replace_by_link(path: Path, target: str) -> Damage:
    def replace(_: Project) -> None:
        shutil.rmtree(path)
        path.symlink_to(target)

    return replace


def nan_weights(_: Project) -> None:
    tensors, metadata = load_weights(WEIGHTS)
    save_weights(
        WEIGHTS, {name: tensor * float("nan") for name, tensor in tensors.items()}, metadata
    )


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
HTML = b"<!DOCTYPE html><title>404</title>\n"

PARAMETERS: dict[str, tuple[Damage, str]] = {
    "params.yaml is a folder": (replace_by_folder("params.yaml"), "ConfigError: params.yaml: Is a directory."),
    "params.yaml is empty": (write("params.yaml", b""), "ConfigError: params.yaml: the file must be a mapping, not None."),
    "params.yaml is UTF-16": (write("params.yaml", "scale: demo\n".encode("utf-16")), "ConfigError: params.yaml: catalogue is missing."),
    "params.yaml is not text": (write("params.yaml", bytes(range(256))), "ConfigError: params.yaml: not YAML: "),
    "params.yaml runs Python": (write("params.yaml", b"!!python/object/apply:os.mkdir [evil]"), "ConfigError: params.yaml: not YAML: could not determine a constructor"),
    "a parameter that contains itself": (lambda p: p.set("scale", value=ENDLESS), "ConfigError: params.yaml: scale must be a valid string, not [["),
    "a key that clears the terminal": (lambda p: p.set("\x1b[2Jscale", value=1), "ConfigError: params.yaml: \\x1b[2Jscale is not a known key."),
    "a run that leaves the project": (lambda p: p.rename("runs", RUN, "../../evil"), "ConfigError: params.yaml: runs has the invalid name '../../evil'."),
    "a run that is a command": (lambda p: p.rename("runs", RUN, "x; touch ../evil;"), "ConfigError: params.yaml: runs has the invalid name 'x; touch ../evil;'."),
    "a task that leaves data/text": (lambda p: p.rename("tasks", "en-de", "../t"), "ConfigError: params.yaml: tasks has the invalid name '../t'."),
    "a url that leaves the mirror": (lambda p: p.set("catalogue", "downloads", "train-en", "url", value="http://host/../../evil"), "downloads.train-en.url is 'http://host/../../evil'; write http://"),
    "a url of this machine's files": (lambda p: p.set("catalogue", "downloads", "train-en", "url", value="file:///etc/passwd"), "downloads.train-en.url is 'file:///etc/passwd'; write http://"),
    "a number of 5,000 digits": (lambda _: Path("params.yaml").write_text("scale: " + 5000 * "1"), "ConfigError: params.yaml: not YAML: Exceeds the limit"),
}  # fmt: skip

CORPORA: dict[str, tuple[Damage, str]] = {
    "a web page in place of the file": (serve("train.en.gz", HTML), "train.en.gz: truncated or damaged (Not a gzipped file"),
    "a line without end in a test set": (serve("test.en.gz", gzip.compress(bytes(LINE_BYTES + 1))), f"test.en.gz, line 1: longer than {LINE_BYTES} bytes."),
    "nothing but lines without end": (endless_training_text, "cleaning left no training pair (train: {'invalid_utf8': 0, 'empty': 0, 'max_words': 0, 'max_ratio': 0, 'identical': 0, 'duplicates': 0, 'too_long': 1})."),
    "text in UTF-16": (serve("dev.de.gz", gzip.compress("äh\n".encode("utf-16"))), "dev.de.gz, line 1: not UTF-8."),
    "a damaged header in an archive": (serve("train.en.tgz", tgz(b"x\n", 1024 + 5), "train.en"), "train.en.tgz, member train.en: truncated or damaged (bad checksum at byte 1024)."),
    "a name in an archive that clears the terminal": (serve("train.en.tgz", tgz(b"x\n"), "first"), "no such member. The closest name is first\\x1b[2J."),
    "a file that is no archive": (serve("train.en.tgz", HTML, "train.en"), "train.en.tgz, member train.en: truncated or damaged"),
    "a truncated test set": (serve("test.de.sgm", b"<seg id=1>a</seg>\n<seg id=2>b\n"), "test.de.sgm: 2 <seg> are opened, 1 closed. Correct the file."),
    "another file than the catalogue's": (lambda p: (p.mirror / "dev.en.gz").write_bytes(HTML), "dev.en.gz: sha256 is "),
    "the mirror is a file": (replace_by_file("../mirror"), "../mirror: no such folder. It is the mirror in AIAYN_MIRROR."),
    "a folder in the mirror in place of a file": (replace_by_folder(Project.mirror / "dev.en.gz"), "dev.en.gz: not in the mirror."),
    "a file in place of the text": (replace_by_file(TEXT), "NotADirectoryError: Not a directory: data/text/en-de."),
}  # fmt: skip

STAGE_FILES: dict[str, tuple[str, Damage, str]] = {
    "a truncated vocabulary": ("encode", write("data/bpe/en-de/model.model", b"\n\x0f"), "data/bpe/en-de/model.model: not a sentencepiece model."),
    "training text that is not UTF-8": ("encode", write(TEXT / "train.source", b"\xff\n"), "data/text/en-de/train.source: line 1 is not UTF-8."),
    "empty weights": ("decode", write(WEIGHTS, b""), f"CheckpointError: {WEIGHTS}: damaged, or not a checkpoint"),
    "a page in place of weights": ("decode", write(WEIGHTS, HTML), f"CheckpointError: {WEIGHTS}: damaged, or not a checkpoint"),
    "a pickle in place of weights": ("decode", write(WEIGHTS, b"\x80\x04cos\nmkdir\n(Vevil\ntR."), f"CheckpointError: {WEIGHTS}: damaged, or not a checkpoint"),
    "weights that are NaN": ("decode", nan_weights, f"CheckpointError: {WEIGHTS}: "),
    "a link to itself in place of outputs": ("decode", replace_by_link(OUTPUTS, OUTPUTS.name), f"{OUTPUTS}"),
    "too few translations": ("score", write(OUTPUTS / "test.hypotheses", b"one\n"), f"ScoreError: {OUTPUTS}/test.hypotheses has 1 lines and "),
    "references that the manifest does not describe": ("score", write(TEXT / "test.target", b"a\nb\nc\n"), "DataError: data/text/en-de/test.target"),
    "a manifest that is nested too deeply": ("score", write(TEXT / "manifest.json", b"[" * 100_000), "DataError: data/text/en-de/manifest.json: nested too deeply."),
    "a manifest with NaN": ("score", write(TEXT / "manifest.json", b'{"task": NaN}'), "DataError: data/text/en-de/manifest.json: not JSON (NaN is not a number)."),
    "a training curve of NUL bytes": ("score", write(f"history/{RUN}.csv", bytes(9)), f"DataError: history/{RUN}.csv: "),
    "a training curve without lines": ("score", write(f"history/{RUN}.csv", b"step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity\n"), f"DataError: history/{RUN}.csv: the last line has no dev_perplexity."),
}  # fmt: skip

ARGUMENTS: dict[str, tuple[list[str], str]] = {
    "a run that does not exist": (["en-de.bsae", "x"], "there is no run 'en-de.bsae'. Did you mean en-de.base?"),
    "a run that is a path": (["../../evil", "x"], "there is no run '../../evil'."),
    "a sentence that is not UTF-8": ([RUN, "caf\udce9"], "the sentences given: not UTF-8 at byte 3."),
    "an empty sentence": ([RUN, ""], "the sentences given: there is no sentence."),
    "a folder of sentences": ([RUN, "--input", "data"], "data: is a folder."),
    "a penalty that is NaN": ([RUN, "x", "--alpha", "nan"], "alpha must be a finite number"),
    "a folder in place of the figure": ([RUN, "x", "--attention", "data"], "Is a directory"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters(project: Project, case: str) -> None:
    damage, expected = PARAMETERS[case]
    check_error(project, damage, lambda: stage("download", "en-de"), expected)


@pytest.mark.parametrize("case", CORPORA)
def test_corpora(project: Project, case: str) -> None:
    damage, expected = CORPORA[case]
    check_error(project, damage, lambda: stage("download", "en-de"), expected)


@pytest.mark.parametrize("case", STAGE_FILES)
def test_files_of_stages(project: Project, case: str) -> None:
    name, damage, expected = STAGE_FILES[case]
    item = "en-de" if name == "encode" else RUN
    check_error(project, damage, lambda: stage(name, item), expected)


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments(project: Project, case: str) -> None:
    arguments, expected = ARGUMENTS[case]
    check_error(project, lambda _: None, lambda: main(["translate", *arguments]), expected)


def test_the_undamaged_project_runs(project: Project) -> None:
    """Otherwise the tests above would prove nothing."""
    assert config.load().runs
    for name, item in (("download", "en-de"), ("encode", "en-de"), ("decode", RUN), ("score", RUN)):
        stage(name, item)
    assert json.loads(Path(f"scores/{RUN}.json").read_text())["run"] == RUN
