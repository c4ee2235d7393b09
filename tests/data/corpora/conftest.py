"""Small corpora in a local mirror, and the mirrors of the real ones."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.config import Catalogue, Cleaning, Corpus, Download, Side, Text
from aiayn.data.corpora import transfer

REPOSITORY = Path(__file__).parents[3]
NO_RULES = Cleaning(
    invalid_utf8=False,
    empty=False,
    max_words=None,
    max_ratio=None,
    identical=False,
    duplicates=False,
)


def _shared(name: str) -> Path:
    folder = REPOSITORY.parent / "shared" / name
    if not folder.is_dir():
        pytest.skip(f"the mirror ../shared/{name} is not here")
    return folder


@pytest.fixture(scope="session")
def multi30k_mirror() -> Path:
    """The real Multi30k files."""
    return _shared("mirror")


@pytest.fixture(scope="session")
def wmt14_mini_mirror() -> Path:
    """WMT14's English-German archives in miniature."""
    return _shared("wmt14-mini")


def _catalogue(name: str) -> Catalogue:
    content: dict[str, Any] = yaml.load(
        (REPOSITORY / "conf" / "catalogue" / f"{name}.yaml").read_text(), yaml.CSafeLoader
    )
    return Catalogue.model_validate(content)


@pytest.fixture(scope="session")
def catalogue() -> Callable[[str], Catalogue]:
    """conf/catalogue/NAME.yaml, by name."""
    return _catalogue


class Workspace:
    """A catalogue whose downloads are files of a local mirror, and folders for raw and final text."""

    def __init__(self, folder: Path) -> None:
        self.mirror = folder / "mirror"
        self.raw = folder / "raw"
        self.text = folder / "text" / "en-de"
        self.catalogue = Catalogue(downloads={}, corpora={})

    def add(self, name: str, en: bytes, de: bytes, pairs: int | None = None) -> None:
        """Add a corpus of two plain files, or replace it."""
        downloads = dict(self.catalogue.downloads)
        for language, content in (("en", en), ("de", de)):
            path = self.mirror / "host" / f"{name}.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            downloads[path.name] = Download(
                url=f"http://host/{path.name}",
                checksum=f"sha256:{hashlib.sha256(content).hexdigest()}",
                licence="none",
            )
        sides = {language: Side(download=f"{name}.{language}") for language in ("en", "de")}
        corpora = {**self.catalogue.corpora, name: Corpus(sides=sides, pairs=pairs)}
        self.catalogue = self.catalogue.replace(downloads=downloads, corpora=corpora)

    def task(self, *train: str, **cleaning: Any) -> Text:
        """A task of these corpora, with only these cleaning rules."""
        return Text(
            source="en",
            target="de",
            train=train,
            dev="dev",
            tests={"test": "test"},
            cleaning=NO_RULES.replace(**cleaning),
        )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with a dev and a test set."""
    workspace = Workspace(tmp_path)
    workspace.add("dev", b"a dev sentence\n", b"ein Satz\n")
    workspace.add("test", b"a test sentence\n", b"ein Test\n")
    return workspace


@dataclass(frozen=True)
class Response:
    """How a host responds: it closes the connection after `cut` bytes or stalls after `stall`, sends
    a wrong `length` or none, serves other `content`, ignores ranges, or calls `before` first."""

    status: int = 200
    cut: int | None = None
    stall: int | None = None
    length: int | None = None
    sends_length: bool = True
    content: bytes | None = None
    accepts_ranges: bool = True
    before: Callable[[], object] = lambda: None


class Host:
    """A web server on this machine that sends the prepared responses in turn, repeating the last."""

    def __init__(self) -> None:
        self.responses = [Response()]
        self.content = b"a corpus\n" * 1000
        self.requests: list[str] = []
        self.ranges: list[str | None] = []  # the range that each of them requested
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.address}"

    def _handler(host) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(host.content)))
                self.end_headers()

            def do_GET(self) -> None:
                response = host.responses.pop(0) if len(host.responses) > 1 else host.responses[0]
                host.requests.append(self.path)
                host.ranges.append(self.headers["Range"])
                response.before()
                self.respond(response)

            def respond(self, response: Response) -> None:
                whole = host.content if response.content is None else response.content
                if response.status != 200:
                    return self.send(response.status, b"sorry", response)
                begin = int((self.headers["Range"] or "bytes=0-")[6:-1])
                if not begin or not response.accepts_ranges:
                    return self.send(200, whole, response)
                if begin >= len(whole):
                    return self.send(416, b"", response, f"*/{len(whole)}")
                content_range = f"{begin}-{len(whole) - 1}/{len(whole)}"
                return self.send(206, whole[begin:], response, content_range)

            def send(
                self, status: int, body: bytes, response: Response, content_range: str = ""
            ) -> None:
                self.send_response(status)
                if response.sends_length:
                    length = len(body) if response.length is None else response.length
                    self.send_header("Content-Length", str(length))
                if content_range:
                    self.send_header("Content-Range", f"bytes {content_range}")
                self.end_headers()
                end = next((n for n in (response.cut, response.stall) if n is not None), len(body))
                self.wfile.write(body[:end])
                self.wfile.flush()
                if response.stall is not None:
                    host.released.wait()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host; downloads from it retry without a pause."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(transfer, "PAUSES_SECONDS", (0, 0))
    host = Host()
    thread = threading.Thread(target=host.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield host
    host.released.set()
    host.server.shutdown()
    thread.join()
    host.server.server_close()


@pytest.fixture
def response() -> type[Response]:
    """The class of a host's responses."""
    return Response
