"""Nothing is used unverified, and every way to fail says what to do."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from aiayn.config import Download
from aiayn.corpora import fetching
from aiayn.corpora.fetching import fetch
from aiayn.errors import DataError

CONTENT = b"a corpus\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
DAMAGED = b"b" + CONTENT[1:]


def download(url: str = "http://host/path/a.gz", checksum: str = f"sha256:{SHA256}") -> Download:
    return Download(url=url, checksum=checksum, licence="none")


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


class Host:
    """A web server on this machine that gives the prepared answers in turn, then the last again.

    An answer is a status, or "break off" to close the connection half way.
    """

    def __init__(self) -> None:
        self.answers: list[int | str] = [200]
        self.content = CONTENT
        self.requests: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.place = f"127.0.0.1:{self.server.server_port}"

    def _handler(host) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.requests.append(self.path)
                answer = host.answers.pop(0) if len(host.answers) > 1 else host.answers[0]
                body = host.content if answer in (200, "break off") else b"sorry"
                self.send_response(answer if isinstance(answer, int) else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if answer == "break off" else body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(fetching, "PAUSES_SECONDS", (0, 0))
    host = Host()
    thread = threading.Thread(target=host.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield host
    host.server.shutdown()
    thread.join()
    host.server.server_close()


def complaint(call: Callable[[], object]) -> str:
    with pytest.raises(DataError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_mirror_is_read_in_place(tmp_path: Path) -> None:
    there = put(tmp_path / "mirror/host/path/a.gz", CONTENT)
    assert fetch(download(), tmp_path / "raw", str(tmp_path / "mirror")) == there
    assert not (tmp_path / "raw").exists()


def test_md5_serves_where_only_md5_is_published(tmp_path: Path) -> None:
    there = put(tmp_path / "mirror/host/path/a.gz", CONTENT)
    checksum = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
    assert fetch(download(checksum=checksum), tmp_path / "raw", str(tmp_path / "mirror")) == there


def test_a_damaged_mirror_is_refused(tmp_path: Path) -> None:
    there = put(tmp_path / "mirror/host/path/a.gz", DAMAGED)
    found = hashlib.sha256(DAMAGED).hexdigest()
    assert complaint(lambda: fetch(download(), tmp_path, str(tmp_path / "mirror"))) == (
        f"{there}: sha256 is {found}, the catalogue expects {SHA256}. "
        "Mend the mirror, or unset AIAYN_MIRROR."
    )


def test_a_flipped_byte_in_a_kept_file_is_refused_and_left_for_its_owner(tmp_path: Path) -> None:
    kept = put(tmp_path / "raw/host/path/a.gz", DAMAGED)
    found = hashlib.sha256(DAMAGED).hexdigest()
    assert complaint(lambda: fetch(download(), tmp_path / "raw")) == (
        f"{kept}: sha256 is {found}, the catalogue expects {SHA256}. "
        "The file is damaged: delete it, and it will be fetched again."
    )
    assert kept.read_bytes() == DAMAGED


@pytest.mark.parametrize("declared", [len(CONTENT) - 1, len(CONTENT) + 1])
def test_a_size_that_is_not_the_declared_one_is_refused(declared: int, tmp_path: Path) -> None:
    there = put(tmp_path / "mirror/host/path/a.gz", CONTENT)
    wrong = replace(download(), bytes=declared)
    assert complaint(lambda: fetch(wrong, tmp_path / "raw", str(tmp_path / "mirror"))) == (
        f"{there}: {len(CONTENT)} bytes, the catalogue declares {declared}. "
        "Its sha256 is right: correct `bytes` in conf/catalogue."
    )
    right = replace(download(), bytes=len(CONTENT))
    assert fetch(right, tmp_path / "raw", str(tmp_path / "mirror")) == there


def test_a_file_cut_short_is_told_by_its_size(tmp_path: Path) -> None:
    there = put(tmp_path / "mirror/host/path/a.gz", CONTENT[:-1])
    whole = replace(download(), bytes=len(CONTENT))
    assert complaint(lambda: fetch(whole, tmp_path / "raw", str(tmp_path / "mirror"))) == (
        f"{there}: {len(CONTENT) - 1} bytes, the catalogue declares {len(CONTENT)}. "
        "Mend the mirror, or unset AIAYN_MIRROR."
    )


def test_a_mirror_without_the_file(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    assert complaint(lambda: fetch(download(), tmp_path / "raw", str(mirror))) == (
        f"{mirror}/host/path/a.gz: not in the mirror. "
        "Put it there, or unset AIAYN_MIRROR to fetch http://host/path/a.gz."
    )
    kept = put(tmp_path / "raw/host/path/a.gz", CONTENT)
    assert fetch(download(), tmp_path / "raw", str(mirror)) == kept


def test_a_mirror_that_is_not_there(tmp_path: Path) -> None:
    assert complaint(lambda: fetch(download(), tmp_path, "no/such/mirror")) == (
        "no/such/mirror: no such folder; it was given as the mirror, AIAYN_MIRROR."
    )


def test_a_file_is_fetched_once_and_kept_by_host_and_path(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = download(f"{host.url}/deep/a.gz")
    paths = {fetch(wanted, tmp_path) for _ in range(2)}
    assert paths == {tmp_path / host.place / "deep/a.gz"}
    assert paths.pop().read_bytes() == CONTENT
    assert host.requests == ["/deep/a.gz"]
    assert capsys.readouterr() == ("", "")  # a progress bar is for terminals


def test_a_mirror_by_url_is_asked_for_host_and_path(host: Host, tmp_path: Path) -> None:
    kept = fetch(download("http://elsewhere.org/x/a.gz"), tmp_path, f"{host.url}/pub/")
    assert kept == tmp_path / "elsewhere.org/x/a.gz"
    assert host.requests == ["/pub/elsewhere.org/x/a.gz"]


@pytest.mark.parametrize("hitch", [503, 429, "break off"])
def test_a_passing_failure_is_retried(host: Host, tmp_path: Path, hitch: int | str) -> None:
    host.answers = [hitch, hitch, 200]
    assert fetch(download(f"{host.url}/a.gz"), tmp_path).read_bytes() == CONTENT
    assert len(host.requests) == 3


@pytest.mark.parametrize(
    ("failure", "words"),
    [(503, "HTTP 503 Service Unavailable"), ("break off", "the connection broke off")],
)
def test_a_lasting_failure_leaves_nothing_behind(
    host: Host, tmp_path: Path, failure: int | str, words: str
) -> None:
    host.answers = [failure]
    url = f"{host.url}/a.gz"
    assert complaint(lambda: fetch(download(url), tmp_path)) == (
        f"{url}: {words}, 3 times. "
        "Try again later, or set AIAYN_MIRROR to a mirror that has the file."
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_404_is_said_at_once(host: Host, tmp_path: Path) -> None:
    host.answers = [404]
    url = f"{host.url}/a.gz"
    assert complaint(lambda: fetch(download(url), tmp_path)) == (
        f"{url}: HTTP 404 Not Found. "
        "Check the url in conf/catalogue, or set AIAYN_MIRROR to a mirror that has the file."
    )
    assert host.requests == ["/a.gz"]


def test_a_host_that_is_down(host: Host, tmp_path: Path) -> None:
    host.server.server_close()
    assert "/a.gz: no connection, 3 times. " in complaint(
        lambda: fetch(download(f"{host.url}/a.gz"), tmp_path)
    )


def test_another_version_on_the_host_is_refused(host: Host, tmp_path: Path) -> None:
    host.content = DAMAGED
    url = f"{host.url}/a.gz"
    assert complaint(lambda: fetch(download(url), tmp_path)).startswith(
        f"{url}: sha256 is {hashlib.sha256(DAMAGED).hexdigest()}, the catalogue expects {SHA256}. "
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
