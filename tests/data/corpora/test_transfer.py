"""Downloads over broken connections, and from hosts that truncate, stall or send wrong headers."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from aiayn.data.corpora import transfer
from aiayn.errors import DataError

CONTENT = random.Random(0).randbytes(1_000_000)


@pytest.fixture
def file(host: Any, tmp_path: Path) -> Path:
    host.content = CONTENT
    return tmp_path / "a.gz"


def bring(host: Any, file: Path, size: int | None = len(CONTENT)) -> int:
    with file.open("ab", buffering=0) as opened:
        return transfer.transfer(f"{host.url}/a.gz", opened, size, Event())


def complaint(host: Any, file: Path, size: int | None = len(CONTENT)) -> str:
    with pytest.raises(DataError) as caught:
        bring(host, file, size)
    return str(caught.value)


@pytest.mark.parametrize("cut", random.Random(1).sample(range(len(CONTENT)), 20))
def test_a_download_that_is_cut_comes_whole(host: Any, answer: Any, file: Path, cut: int) -> None:
    """At 20 random bytes: nothing comes twice."""
    host.answers = [answer(cut=cut), answer()]
    assert bring(host, file) == cut
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, f"bytes={cut}-"]


def test_a_download_that_is_cut_20_times_comes_whole(host: Any, answer: Any, file: Path) -> None:
    """More often than there are pauses: every byte that comes begins their row anew."""
    cuts = sorted(random.Random(2).sample(range(len(CONTENT)), 20))
    host.answers = [
        *(answer(cut=b - a) for a, b in zip([0, *cuts], cuts, strict=False)), answer()
    ]  # fmt: skip
    bring(host, file, size=None)
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, *(f"bytes={cut}-" for cut in cuts)]


def test_a_line_that_stalls_is_given_up(
    host: Any, answer: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "STALL_SECONDS", 1.0)
    host.answers = [answer(stall=300_000), answer()]
    bring(host, file)
    assert file.read_bytes() == CONTENT
    assert host.ranges[:2] == [None, "bytes=300000-"]


@pytest.mark.parametrize("hitch", [503, 429, 408])
def test_a_status_that_passes_is_tried_again(
    host: Any, answer: Any, file: Path, hitch: int
) -> None:
    host.answers = [answer(status=hitch), answer(status=hitch), answer()]
    assert bring(host, file) == 0
    assert file.read_bytes() == CONTENT
    assert len(host.requests) == 3


def test_a_host_without_ranges_sends_everything_again(host: Any, answer: Any, file: Path) -> None:
    host.answers = [answer(cut=400_000), answer(ranges=False)]
    assert bring(host, file) == 0
    assert file.read_bytes() == CONTENT


def test_retries_end_for_a_host_without_ranges_that_always_breaks_off(
    host: Any, answer: Any, file: Path
) -> None:
    host.answers = [answer(cut=400_000, ranges=False)]
    assert complaint(host, file) == (
        f"{host.url}/a.gz: the connection broke off, 3 times. Try again later; 400,000 bytes are "
        "kept and will be resumed, or set AIAYN_MIRROR to a mirror that has the file."
    )


def test_a_host_that_is_down(host: Any, file: Path) -> None:
    host.server.server_close()
    assert complaint(host, file) == (
        f"{host.url}/a.gz: no connection, 3 times. "
        "Try again later, or set AIAYN_MIRROR to a mirror that has the file."
    )


def test_a_host_that_does_not_exist_is_said_within_seconds(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def unknown(host: str, *_: object, **__: object) -> None:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with file.open("ab", buffering=0) as opened, pytest.raises(DataError) as caught:
        transfer.transfer("https://mine.local/a.gz", opened, None, Event())
    assert str(caught.value).startswith(
        "https://mine.local/a.gz: the host mine.local cannot be found. "
    )
    assert len(asked) == 3


def test_a_404_is_said_at_once(host: Any, answer: Any, file: Path) -> None:
    host.answers = [answer(status=404)]
    assert complaint(host, file) == (
        f"{host.url}/a.gz: HTTP 404 Not Found. "
        "Check the url in conf/catalogue, or set AIAYN_MIRROR to a mirror that has the file."
    )
    assert len(host.requests) == 1


def test_what_is_no_url_is_said_at_once(tmp_path: Path) -> None:
    with (
        (tmp_path / "a").open("ab") as file,
        pytest.raises(DataError, match="^http:///a: .* Check the url"),
    ):
        transfer.transfer("http:///a", file, None, Event())


@pytest.mark.parametrize("length", [len(CONTENT) - 1, len(CONTENT) + 1, 12])
def test_a_length_that_is_not_the_catalogues_is_not_taken(
    host: Any, answer: Any, file: Path, length: int
) -> None:
    """A page of a proxy in the way, for one: what had come before is not lost."""
    file.write_bytes(CONTENT[:1000])
    host.answers = [answer(ranges=False, length=length)]
    assert f"the host has {length} bytes, the catalogue declares 1000000, 3 times" in complaint(
        host, file
    )
    assert file.read_bytes() == CONTENT[:1000]
    host.answers = [answer(ranges=False, length=length), answer()]
    assert bring(host, file) == 1000
    assert file.read_bytes() == CONTENT


def test_an_unverifiable_length_that_never_arrives(host: Any, answer: Any, file: Path) -> None:
    """The host says a byte more than it has, and then that there is no more: then that is all."""
    host.answers = [answer(length=len(CONTENT) + 1), answer()]
    bring(host, file, size=None)
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, f"bytes={len(CONTENT)}-"]


def test_a_host_that_says_no_length(host: Any, answer: Any, file: Path) -> None:
    host.answers = [answer(says_length=False, cut=1000), answer(says_length=False)]
    bring(host, file)
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, "bytes=1000-"]


def test_more_than_the_file_is_thrown_away(host: Any, answer: Any, file: Path) -> None:
    host.answers = [answer(says_length=False, content=CONTENT + b"more"), answer()]
    bring(host, file)
    assert file.read_bytes() == CONTENT


def test_a_host_that_sends_without_end(host: Any, answer: Any, file: Path) -> None:
    host.answers = [answer(says_length=False, content=CONTENT * 5)]
    with file.open("ab", buffering=0) as opened, pytest.raises(DataError, match="300,000 bytes"):
        transfer.transfer(f"{host.url}/a.gz", opened, None, Event(), most=300_000)
    assert file.read_bytes() == b""
    assert len(host.requests) == 1


def test_what_is_whole_is_not_asked_for(host: Any, file: Path) -> None:
    file.write_bytes(CONTENT)
    bring(host, file)
    assert host.requests == []
    bring(host, file, size=None)  # only the host can tell
    assert host.ranges == [f"bytes={len(CONTENT)}-"]
    assert file.read_bytes() == CONTENT


@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_more_than_the_host_has_is_no_beginning(host: Any, file: Path, size: int | None) -> None:
    file.write_bytes(CONTENT + b"more")
    assert bring(host, file, size) == 0
    assert file.read_bytes() == CONTENT


def test_a_stop_does_not_wait(host: Any, file: Path) -> None:
    stop = Event()
    stop.set()
    with file.open("ab", buffering=0) as opened, pytest.raises(transfer.StoppedError):
        transfer.transfer(f"{host.url}/a.gz", opened, None, stop)


def test_the_size_that_a_host_says(host: Any, file: Path) -> None:
    assert transfer.size_at(f"{host.url}/a.gz") == len(CONTENT)
    host.server.server_close()
    with pytest.raises(DataError, match=r"/a.gz: no connection\.$"):
        transfer.size_at(f"{host.url}/a.gz")
