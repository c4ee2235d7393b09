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


def transfer_file(host: Any, file: Path, size: int | None = len(CONTENT)) -> int:
    with file.open("ab", buffering=0) as opened:
        return transfer.transfer(f"{host.url}/a.gz", opened, size, Event())


def error_message(host: Any, file: Path, size: int | None = len(CONTENT)) -> str:
    with pytest.raises(DataError) as caught:
        transfer_file(host, file, size)
    return str(caught.value)


@pytest.mark.parametrize("cut", random.Random(1).sample(range(len(CONTENT)), 20))
def test_a_cut_download_is_completed(host: Any, response: Any, file: Path, cut: int) -> None:
    """At 20 random bytes; no byte is sent twice."""
    host.responses = [response(cut=cut), response()]
    assert transfer_file(host, file) == cut
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, f"bytes={cut}-"]


def test_a_download_cut_20_times_is_completed(host: Any, response: Any, file: Path) -> None:
    """More often than there are pauses: every byte received restarts their sequence."""
    cuts = sorted(random.Random(2).sample(range(len(CONTENT)), 20))
    host.responses = [
        *(response(cut=b - a) for a, b in zip([0, *cuts], cuts, strict=False)), response()
    ]  # fmt: skip
    transfer_file(host, file, size=None)
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, *(f"bytes={cut}-" for cut in cuts)]


def test_a_stalled_connection_is_given_up(
    host: Any, response: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "STALL_SECONDS", 1.0)
    host.responses = [response(stall=300_000), response()]
    transfer_file(host, file)
    assert file.read_bytes() == CONTENT
    assert host.ranges[:2] == [None, "bytes=300000-"]


@pytest.mark.parametrize("status", [503, 429, 408])
def test_a_temporary_status_is_retried(host: Any, response: Any, file: Path, status: int) -> None:
    host.responses = [response(status=status), response(status=status), response()]
    assert transfer_file(host, file) == 0
    assert file.read_bytes() == CONTENT
    assert len(host.requests) == 3


def test_a_host_without_ranges_sends_everything_again(host: Any, response: Any, file: Path) -> None:
    host.responses = [response(cut=400_000), response(accepts_ranges=False)]
    assert transfer_file(host, file) == 0
    assert file.read_bytes() == CONTENT


def test_retries_end_if_a_host_without_ranges_always_breaks_off(
    host: Any, response: Any, file: Path
) -> None:
    host.responses = [response(cut=400_000, accepts_ranges=False)]
    assert error_message(host, file) == (
        f"{host.url}/a.gz: the connection broke off, 3 times. Try again later; 400,000 bytes are "
        "kept and will be resumed, or set AIAYN_MIRROR to a mirror that has the file."
    )


def test_a_host_that_is_down(host: Any, file: Path) -> None:
    host.server.server_close()
    assert error_message(host, file) == (
        f"{host.url}/a.gz: no connection, 3 times. "
        "Try again later, or set AIAYN_MIRROR to a mirror that has the file."
    )


def test_an_unknown_host_is_reported_within_seconds(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = []

    def unknown(host: str, *_: object, **__: object) -> None:
        lookups.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with file.open("ab", buffering=0) as opened, pytest.raises(DataError) as caught:
        transfer.transfer("https://mine.local/a.gz", opened, None, Event())
    assert str(caught.value).startswith(
        "https://mine.local/a.gz: the host mine.local cannot be found. "
    )
    assert len(lookups) == 3


def test_a_404_is_reported_at_once(host: Any, response: Any, file: Path) -> None:
    host.responses = [response(status=404)]
    assert error_message(host, file) == (
        f"{host.url}/a.gz: HTTP 404 Not Found. "
        "Check the url in conf/catalogue, or set AIAYN_MIRROR to a mirror that has the file."
    )
    assert len(host.requests) == 1


def test_an_invalid_url_is_reported_at_once(tmp_path: Path) -> None:
    with (
        (tmp_path / "a").open("ab") as file,
        pytest.raises(DataError, match="^http:///a: .* Check the url"),
    ):
        transfer.transfer("http:///a", file, None, Event())


@pytest.mark.parametrize("length", [len(CONTENT) - 1, len(CONTENT) + 1, 12])
def test_a_length_other_than_the_catalogues_is_refused(
    host: Any, response: Any, file: Path, length: int
) -> None:
    """For example an error page of a proxy: the bytes received before are not lost."""
    file.write_bytes(CONTENT[:1000])
    host.responses = [response(accepts_ranges=False, length=length)]
    assert f"the host has {length} bytes, the catalogue declares 1000000, 3 times" in error_message(
        host, file
    )
    assert file.read_bytes() == CONTENT[:1000]
    host.responses = [response(accepts_ranges=False, length=length), response()]
    assert transfer_file(host, file) == 1000
    assert file.read_bytes() == CONTENT


def test_an_unverifiable_length_that_never_arrives(host: Any, response: Any, file: Path) -> None:
    """The host declares a byte too many, then that there are no more: the file is complete."""
    host.responses = [response(length=len(CONTENT) + 1), response()]
    transfer_file(host, file, size=None)
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, f"bytes={len(CONTENT)}-"]


def test_a_host_without_a_length(host: Any, response: Any, file: Path) -> None:
    host.responses = [response(sends_length=False, cut=1000), response(sends_length=False)]
    transfer_file(host, file)
    assert file.read_bytes() == CONTENT
    assert host.ranges == [None, "bytes=1000-"]


def test_too_many_bytes_are_discarded(host: Any, response: Any, file: Path) -> None:
    host.responses = [response(sends_length=False, content=CONTENT + b"more"), response()]
    transfer_file(host, file)
    assert file.read_bytes() == CONTENT


def test_a_host_that_sends_without_end(host: Any, response: Any, file: Path) -> None:
    host.responses = [response(sends_length=False, content=CONTENT * 5)]
    with file.open("ab", buffering=0) as opened, pytest.raises(DataError, match="300,000 bytes"):
        transfer.transfer(f"{host.url}/a.gz", opened, None, Event(), most=300_000)
    assert file.read_bytes() == b""
    assert len(host.requests) == 1


def test_a_complete_file_is_not_requested(host: Any, file: Path) -> None:
    file.write_bytes(CONTENT)
    transfer_file(host, file)
    assert host.requests == []
    transfer_file(host, file, size=None)  # only the host knows
    assert host.ranges == [f"bytes={len(CONTENT)}-"]
    assert file.read_bytes() == CONTENT


@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_a_file_longer_than_the_hosts_is_fetched_again(
    host: Any, file: Path, size: int | None
) -> None:
    file.write_bytes(CONTENT + b"more")
    assert transfer_file(host, file, size) == 0
    assert file.read_bytes() == CONTENT


def test_a_stop_takes_effect_at_once(host: Any, file: Path) -> None:
    stop = Event()
    stop.set()
    with file.open("ab", buffering=0) as opened, pytest.raises(transfer.StoppedError):
        transfer.transfer(f"{host.url}/a.gz", opened, None, stop)


def test_the_size_from_the_host(host: Any, file: Path) -> None:
    assert transfer.size_at(f"{host.url}/a.gz") == len(CONTENT)
    host.server.server_close()
    with pytest.raises(DataError, match=r"/a.gz: no connection\.$"):
        transfer.size_at(f"{host.url}/a.gz")
