"""Small corpora in a mirror of their own, and where the real ones are."""

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


class Corner:
    """A catalogue whose downloads are files of a mirror folder, made as a test needs them."""

    def __init__(self, folder: Path) -> None:
        self.mirror = folder / "mirror"
        self.raw = folder / "raw"
        self.text = folder / "text" / "en-de"
        self.catalogue = Catalogue(downloads={}, corpora={})

    def add(self, name: str, en: bytes, de: bytes, pairs: int | None = None) -> None:
        """Add a corpus of two plain files, or put another in its place."""
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
        """A task of these corpora; of the cleaning rules, only those that are given."""
        return Text(
            source="en",
            target="de",
            train=train,
            dev="dev",
            tests={"test": "test"},
            cleaning=NO_RULES.replace(**cleaning),
        )


@pytest.fixture
def corner(tmp_path: Path) -> Corner:
    """A corner with a dev and a test set."""
    corner = Corner(tmp_path)
    corner.add("dev", b"a dev sentence\n", b"ein Satz\n")
    corner.add("test", b"a test sentence\n", b"ein Test\n")
    return corner


@dataclass(frozen=True)
class Answer:
    """What a host does with a request: cuts the line after so many bytes, or falls silent there;
    lies about the length; serves another file; knows no ranges; waits for something first."""

    status: int = 200
    cut: int | None = None
    stall: int | None = None
    length: int | None = None
    says_length: bool = True
    content: bytes | None = None
    ranges: bool = True
    first: Callable[[], object] = lambda: None


class Host:
    """A web server on this machine that gives the prepared answers in turn, then the last again."""

    def __init__(self) -> None:
        self.answers = [Answer()]
        self.content = b"a corpus\n" * 1000
        self.requests: list[str] = []
        self.ranges: list[str | None] = []  # what of the file each of them asked for
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.place = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.place}"

    def _handler(host) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(host.content)))
                self.end_headers()

            def do_GET(self) -> None:
                answer = host.answers.pop(0) if len(host.answers) > 1 else host.answers[0]
                host.requests.append(self.path)
                host.ranges.append(self.headers["Range"])
                answer.first()
                self.answer(answer)

            def answer(self, answer: Answer) -> None:
                whole = host.content if answer.content is None else answer.content
                if answer.status != 200:
                    return self.send(answer.status, b"sorry", answer)
                begin = int((self.headers["Range"] or "bytes=0-")[6:-1])
                if not begin or not answer.ranges:
                    return self.send(200, whole, answer)
                if begin >= len(whole):
                    return self.send(416, b"", answer, f"*/{len(whole)}")
                told = f"{begin}-{len(whole) - 1}/{len(whole)}"
                return self.send(206, whole[begin:], answer, told)

            def send(self, status: int, body: bytes, answer: Answer, told: str = "") -> None:
                self.send_response(status)
                if answer.says_length:
                    length = len(body) if answer.length is None else answer.length
                    self.send_header("Content-Length", str(length))
                if told:
                    self.send_header("Content-Range", f"bytes {told}")
                self.end_headers()
                end = next((n for n in (answer.cut, answer.stall) if n is not None), len(body))
                self.wfile.write(body[:end])
                self.wfile.flush()
                if answer.stall is not None:
                    host.released.wait()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host of which a download never waits long."""
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
def answer() -> type[Answer]:
    """What a host may do."""
    return Answer
