"""Files are verified before use, and every error says what to do."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Download
from aiayn.data.corpora import fetching
from aiayn.data.corpora.meter import Meter
from aiayn.errors import DataError
from aiayn.results import progress
from aiayn.results.progress import Fetching

CONTENT = b"a corpus\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
DAMAGED = b"b" + CONTENT[1:]


def download(url: str = "http://host/path/a.gz", checksum: str = f"sha256:{SHA256}") -> Download:
    return Download(url=url, checksum=checksum, licence="none")


def fetch(entry: Download, raw: Path, mirror: str | None = None) -> Path:
    return fetching.fetch({"a": entry}, raw, mirror)["a"]


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def error_message(call: Callable[[], object]) -> str:
    with pytest.raises(DataError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_mirror_is_read_in_place(tmp_path: Path) -> None:
    file = put(tmp_path / "mirror/host/path/a.gz", CONTENT)
    assert fetch(download(), tmp_path / "raw", str(tmp_path / "mirror")) == file
    assert not (tmp_path / "raw").exists()


def test_md5_where_only_md5_is_published(tmp_path: Path) -> None:
    file = put(tmp_path / "mirror/host/path/a.gz", CONTENT)
    checksum = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
    assert fetch(download(checksum=checksum), tmp_path / "raw", str(tmp_path / "mirror")) == file


def test_a_damaged_mirror_is_refused(tmp_path: Path) -> None:
    file = put(tmp_path / "mirror/host/path/a.gz", DAMAGED)
    found = hashlib.sha256(DAMAGED).hexdigest()
    assert error_message(lambda: fetch(download(), tmp_path, str(tmp_path / "mirror"))) == (
        f"{file}: sha256 is {found}, the catalogue expects {SHA256}. "
        "Correct the mirror, or unset AIAYN_MIRROR."
    )


def test_a_damaged_local_file_is_refused_and_not_deleted(tmp_path: Path) -> None:
    kept = put(tmp_path / "raw/host/path/a.gz", DAMAGED)
    found = hashlib.sha256(DAMAGED).hexdigest()
    assert error_message(lambda: fetch(download(), tmp_path / "raw")) == (
        f"{kept}: sha256 is {found}, the catalogue expects {SHA256}. "
        "The file is damaged: delete it, and it will be fetched again."
    )
    assert kept.read_bytes() == DAMAGED


@pytest.mark.parametrize("declared", [len(CONTENT) - 1, len(CONTENT) + 1])
def test_a_size_that_is_not_the_declared_one_is_refused(declared: int, tmp_path: Path) -> None:
    file = put(tmp_path / "mirror/host/path/a.gz", CONTENT)
    wrong = download().replace(bytes=declared)
    assert error_message(lambda: fetch(wrong, tmp_path / "raw", str(tmp_path / "mirror"))) == (
        f"{file}: {len(CONTENT)} bytes, the catalogue declares {declared}. "
        "Its sha256 is right: correct `bytes` in conf/catalogue."
    )
    right = download().replace(bytes=len(CONTENT))
    assert fetch(right, tmp_path / "raw", str(tmp_path / "mirror")) == file


def test_a_truncated_file_is_detected_by_its_size(tmp_path: Path) -> None:
    file = put(tmp_path / "mirror/host/path/a.gz", CONTENT[:-1])
    whole = download().replace(bytes=len(CONTENT))
    assert error_message(lambda: fetch(whole, tmp_path / "raw", str(tmp_path / "mirror"))) == (
        f"{file}: {len(CONTENT) - 1} bytes, the catalogue declares {len(CONTENT)}. "
        "Correct the mirror, or unset AIAYN_MIRROR."
    )


def test_a_mirror_without_the_file(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    assert error_message(lambda: fetch(download(), tmp_path / "raw", str(mirror))) == (
        f"{mirror}/host/path/a.gz: not in the mirror. "
        "Put it there, or unset AIAYN_MIRROR to fetch http://host/path/a.gz."
    )
    kept = put(tmp_path / "raw/host/path/a.gz", CONTENT)
    assert fetch(download(), tmp_path / "raw", str(mirror)) == kept


def test_a_missing_mirror(tmp_path: Path) -> None:
    assert error_message(lambda: fetch(download(), tmp_path, "no/such/mirror")) == (
        "no/such/mirror: no such folder. It is the mirror in AIAYN_MIRROR."
    )


def test_a_file_is_fetched_once_and_kept_by_host_and_path(
    host: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = download(f"{host.url}/deep/a.gz")
    paths = {fetch(entry, tmp_path) for _ in range(2)}
    assert paths == {tmp_path / host.address / "deep/a.gz"} == {tmp_path / entry.path}
    assert paths.pop().read_bytes() == CONTENT
    assert host.requests == ["/deep/a.gz"]
    assert capsys.readouterr() == ("", "")  # a progress bar is for terminals


def test_a_mirror_by_url_has_paths_of_host_and_path(host: Any, tmp_path: Path) -> None:
    kept = fetch(download("http://elsewhere.org/x/a.gz"), tmp_path, f"{host.url}/pub/")
    assert kept == tmp_path / "elsewhere.org/x/a.gz"
    assert host.requests == ["/pub/elsewhere.org/x/a.gz"]


def test_another_version_on_the_host_is_refused(host: Any, tmp_path: Path) -> None:
    host.content = DAMAGED
    url = f"{host.url}/a.gz"
    assert error_message(lambda: fetch(download(url), tmp_path)).startswith(
        f"{url}: sha256 is {hashlib.sha256(DAMAGED).hexdigest()}, the catalogue expects {SHA256}. "
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def partial(raw: Path, host: Any, name: str = "a.gz") -> Path:
    return Path(raw / host.address / f".{name}.partial")


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_second_start_resumes_the_download(host: Any, response: Any, tmp_path: Path) -> None:
    url = f"{host.url}/a.gz"
    host.responses = [response(cut=4000), response(status=503)]
    assert error_message(lambda: fetch(download(url), tmp_path)) == (
        f"{url}: HTTP 503 Service Unavailable, 3 times. Try again later; 4,000 bytes are kept and "
        "will be resumed, or set AIAYN_MIRROR to a mirror that has the file."
    )
    assert partial(tmp_path, host).read_bytes() == CONTENT[:4000]
    host.responses, host.ranges = [response()], []
    assert fetch(download(url), tmp_path).read_bytes() == CONTENT
    assert host.ranges == ["bytes=4000-"]
    assert files(tmp_path) == [tmp_path / host.address / "a.gz"]


def test_a_killed_download_is_resumed(host: Any, response: Any, tmp_path: Path) -> None:
    host.responses = [response(stall=5000)]
    url = f"{host.url}/a.gz"
    program = f"""
from pathlib import Path
from aiayn.config import Download
from aiayn.data.corpora.fetching import fetch
fetch({{"a": Download(url={url!r}, checksum="sha256:{SHA256}", licence="none")}}, Path({str(tmp_path)!r}))
"""
    process = subprocess.Popen([sys.executable, "-c", program])
    file = partial(tmp_path, host)
    while not file.exists() or file.stat().st_size < 5000:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    host.responses, host.ranges = [response()], []
    assert fetch(download(url), tmp_path).read_bytes() == CONTENT
    assert host.ranges == ["bytes=5000-"]


def test_a_partial_download_of_another_file_is_fetched_again(
    host: Any, response: Any, tmp_path: Path
) -> None:
    put(partial(tmp_path, host), DAMAGED[:4000])
    assert fetch(download(f"{host.url}/a.gz"), tmp_path).read_bytes() == CONTENT
    assert host.ranges == ["bytes=4000-", None]


def test_a_file_that_changes_during_the_download_is_refused(
    host: Any, response: Any, tmp_path: Path
) -> None:
    url = f"{host.url}/a.gz"
    changed = CONTENT[:-1] + b"b"
    host.responses = [response(cut=4000), response(content=changed)]
    assert error_message(lambda: fetch(download(url), tmp_path)).startswith(
        f"{url}: sha256 is {hashlib.sha256(changed).hexdigest()}, the catalogue expects {SHA256}. "
    )
    assert host.ranges == [None, "bytes=4000-", None]
    assert files(tmp_path) == []


def test_retries_end_if_the_file_never_matches(host: Any, response: Any, tmp_path: Path) -> None:
    host.responses = [response(content=DAMAGED, cut=4000), response(content=DAMAGED)] * 5
    assert "sha256 is " in error_message(lambda: fetch(download(f"{host.url}/a.gz"), tmp_path))
    assert len(host.requests) == 4


def downloads(host: Any, *names: str) -> dict[str, Download]:
    return {name: download(f"{host.url}/{name}") for name in names}


def test_four_are_fetched_at_a_time(host: Any, response: Any, tmp_path: Path) -> None:
    together = threading.Barrier(4, timeout=60)
    host.responses = [response(before=together.wait)]
    paths = fetching.fetch(downloads(host, *"abcd"), tmp_path)
    assert paths == {name: tmp_path / host.address / name for name in "abcd"}
    assert all(path.read_bytes() == CONTENT for path in paths.values())


def test_a_failed_download_does_not_stop_the_others(
    host: Any, response: Any, tmp_path: Path
) -> None:
    both = downloads(host, "a", "b")
    both["a"] = both["a"].replace(checksum=f"sha256:{64 * '0'}")
    assert error_message(lambda: fetching.fetch(both, tmp_path)).startswith(
        f"{host.url}/a: sha256 is "
    )
    assert files(tmp_path) == [tmp_path / host.address / "b"]


def test_two_processes_fetch_the_same_file_once(host: Any, response: Any, tmp_path: Path) -> None:
    """As download@en-de and download@en-fr do in parallel: each opens the file itself."""
    started = threading.Event()
    host.responses = [response(stall=4000, before=started.set), response()]
    paths: list[Path] = []

    def fetch_file() -> None:
        paths.append(fetch(download(f"{host.url}/a.gz"), tmp_path))

    both = [threading.Thread(target=fetch_file) for _ in range(2)]
    both[0].start()
    assert started.wait(60)
    both[1].start()
    host.released.set()
    for thread in both:
        thread.join()
    assert [path.read_bytes() for path in paths] == [CONTENT, CONTENT]
    assert host.ranges == [None, "bytes=4000-"]


def test_too_little_disk_space_is_reported_before_the_first_byte(
    host: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 2 * len(CONTENT) - 1
    usage = shutil._ntuple_diskusage(free, 0, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    # the size of one is declared, that of the other is from the host
    both = downloads(host, "a", "b")
    both["a"] = both["a"].replace(bytes=len(CONTENT))
    raw = tmp_path / "raw"
    assert error_message(lambda: fetching.fetch(both, raw)) == (
        f"{raw}: 18,000 bytes are to be fetched, but only 17,999 are free. Free disk space, or set "
        "AIAYN_MIRROR to a folder that has the files: it is read in place."
    )
    assert host.requests == []
    put(partial(raw, host, "a"), CONTENT[:1])  # one byte less is needed
    assert fetching.fetch(both, raw)["b"].read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("free", "declared", "limit"), [(5000, None, 4500), (10**9, 9000, 9000)], ids=["disk", "HEAD"]
)
def test_a_host_that_sends_without_end_does_not_fill_the_disk(
    host: Any, response: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    free: int, declared: int | None, limit: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(fetching, "free_bytes", lambda folder: free)
    monkeypatch.setattr(fetching, "size_at", lambda url: declared)
    host.responses = [response(sends_length=False, content=CONTENT * 1000)]
    message = error_message(lambda: fetching.fetch(downloads(host, "a"), tmp_path / "raw"))
    assert f"/a: sends more than {limit:,} bytes" in message
    assert not [path for path in (tmp_path / "raw").rglob("*") if path.is_file()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full exists on Linux alone")
def test_a_full_disk_is_a_one_line_error(host: Any, tmp_path: Path) -> None:
    file = partial(tmp_path, host)
    file.parent.mkdir()
    file.symlink_to("/dev/full")
    assert error_message(lambda: fetch(download(f"{host.url}/a.gz"), tmp_path)) == (
        f"{file.parent}: the disk is full. "
        "Free disk space and start again: the download will be resumed."
    )


def test_progress_of_all_downloads(
    host: Any, response: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "POLL_SECONDS", 0.01)
    progress_file = tmp_path / "progress"
    seen: list[Fetching] = []

    def watch() -> None:
        while not seen or (seen[-1].files, seen[-1].bytes) != (1, 14_000):
            if current := progress.read(progress_file, Fetching):
                seen.append(current)
            time.sleep(0.01)
        host.released.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    host.responses = [response(stall=5000), response()]
    entries = {name: d.replace(bytes=9000) for name, d in downloads(host, "a", "b").items()}
    fetching.fetch(entries, tmp_path / "raw", progress=progress_file)
    watcher.join()
    assert (seen[-1].files, seen[-1].files_in_all) == (1, 2)
    assert (seen[-1].bytes, seen[-1].bytes_in_all) == (14_000, 18_000)
    assert not progress_file.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_bar_for_all_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    with Meter(None) as meter:
        meter.show(2, 7, 1_500_000_000, 6_000_000_000)
    assert "downloads:  25%" in terminal.getvalue()
    assert "1.50G/6.00G" in terminal.getvalue()
    assert "2 of 7 files" in terminal.getvalue()


def test_time_left_follows_from_the_rate() -> None:
    state = Fetching(2, 7, 1_500_000_000, 6_000_000_000, 9e6)
    assert str(state) == "2 of 7 files, 1,500.0 of 6,000.0 MB, 9.0 MB/s, 8:20 left"
    assert str(replace(state, bytes_per_second=0.0)).endswith(", 0.0 MB/s, unknown time left")
