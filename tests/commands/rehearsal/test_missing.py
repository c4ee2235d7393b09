"""What a machine lacks is named, and nothing else."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn.commands.rehearsal import missing
from aiayn.config import Config, Corpus, Download, Labelled, Launcher, Side
from aiayn.data.corpora.fetching import source
from aiayn.files import free_bytes


def test_a_missing_licensed_treebank(
    composed: Callable[[str], Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    semi = composed("wsj_semi")
    for name in ("AIAYN_TREEBANK", "AIAYN_PARSED_TEXT"):
        monkeypatch.delenv(name, raising=False)
    lines = missing.missing_treebanks(semi)
    assert len(lines) == 4  # wsj-02-21, wsj-22, wsj-23, machine-parsed
    assert sum("AIAYN_TREEBANK" in line for line in lines) == 3
    assert sum("AIAYN_PARSED_TEXT" in line for line in lines) == 1
    tree = "( (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)) )\n"
    for section in ("02", "10", "21", "22", "23"):
        (tmp_path / section).mkdir()
        (tmp_path / section / f"wsj_{section}01.mrg").write_text(tree)
    monkeypatch.setenv("AIAYN_TREEBANK", str(tmp_path))
    assert missing.missing_treebanks(composed("wsj")) == []
    assert len(missing.missing_treebanks(semi)) == 1


def unreachable() -> str:
    """A URL of this machine that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}/a.gz"


def test_a_host_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    download = Download(url=unreachable(), checksum=f"sha256:{64 * '0'}", licence="none")
    assert missing.missing_downloads([source(download, tmp_path)]) == [
        f"{download.url}: no connection. Connect this machine, or set AIAYN_MIRROR."
    ]


def test_files_of_a_mirror_need_no_host(wmt14: Config, tmp_path: Path) -> None:
    found, lines = missing.sources(wmt14, str(tmp_path))
    assert (found, len(lines)) == ([], 7)  # five archives of training text, two of newstests
    archive = tmp_path / "www.statmt.org/wmt13/test.tgz"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"")
    found, lines = missing.sources(wmt14, str(tmp_path))
    assert ([file.path for file in found], len(lines)) == ([archive], 6)
    assert missing.missing_downloads(found) == []


def test_labelled_text_is_checked_too(wmt14: Config, tmp_path: Path) -> None:
    reviews = Download(
        url="http://example.org/reviews.zip", checksum=f"sha256:{64 * '0'}", licence="none"
    )
    texts = {label: Side(download="reviews", member=label) for label in ("bad", "good")}
    old = wmt14.catalogue
    catalogue = old.replace(
        downloads={**old.downloads, "reviews": reviews},
        corpora={**old.corpora, "newstest2013": Corpus(labelled=Labelled(texts=texts))},
    )
    _, lines = missing.sources(wmt14.model_copy(update={"catalogue": catalogue}), str(tmp_path))
    assert sum("example.org/reviews.zip: not in the mirror" in line for line in lines) == 1


def test_a_launcher_with_more_gpus_than_the_machine(
    wmt14: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing, "visible_gpus", lambda: 2)
    assert [*missing.missing_processors(wmt14)] == [
        "launcher.gpus is 8, but torch sees 2 GPUs. Set GPUS=2 or LAUNCHER=here."
    ]
    cluster = wmt14.replace(launcher=wmt14.launcher.replace(nodes=2, command="sh submit.sh"))
    assert [*missing.missing_processors(cluster)] == []
    without_command = wmt14.replace(launcher=Launcher(command=None))
    assert [*missing.missing_processors(without_command)] == []
    not_installed = wmt14.replace(launcher=Launcher(command="no-such-program --fast"))
    assert [*missing.missing_processors(not_installed)] == [
        "launcher.command starts 'no-such-program', which is not installed. Install it."
    ]


def test_no_gpu_for_device_cuda(wmt14: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing, "visible_gpus", lambda: 0)
    (line,) = missing.missing_processors(wmt14)
    assert line.startswith("no GPU: machine.device is cuda, but torch sees none. Use a machine ")
    on_cpu = wmt14.replace(machine=wmt14.machine.replace(device="cpu"))
    assert [*missing.missing_processors(on_cpu)] == []


def test_too_little_disk(tmp_path: Path) -> None:
    free = free_bytes(tmp_path / "not/there/yet")
    assert [*missing.missing_disk({tmp_path: free // 2})] == []
    (line,) = missing.missing_disk({tmp_path: 10 * free})
    assert line.startswith("disk: ")
    assert str(tmp_path) in line


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing, "visible_gpus", lambda: 0)
    memory = missing.host_memory()
    assert [*missing.missing_memory("en-de.big", memory // 4, 2)] == []
    (line,) = missing.missing_memory("en-de.big", memory, 2)
    assert line.startswith("memory: training en-de.big needs ")


def test_a_host_with_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing, "size_at", lambda url: 12)
    checksum = f"sha256:{hashlib.sha256(b'').hexdigest()}"
    download = Download(url="http://host/a.gz", checksum=checksum, licence="none", bytes=13)
    assert missing.missing_downloads([source(download, tmp_path)]) == [
        "http://host/a.gz: the host has 12 bytes, the catalogue declares 13. "
        "It is another version: set AIAYN_MIRROR."
    ]
