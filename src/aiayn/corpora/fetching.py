"""Files of the catalogue, fetched once and checked against their checksum before every use."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import requests
from pooch.downloaders import HTTPDownloader

from aiayn.config import Download
from aiayn.errors import DataError

PAUSES_SECONDS: tuple[float, ...] = (1, 2, 4, 8)
"""Waits between attempts when the network or the server fails for the moment."""

CHUNK_BYTES = 1 << 16
TRANSIENT = {
    requests.Timeout: "no answer in time",
    requests.exceptions.SSLError: "no secure connection",
    requests.ConnectionError: "no connection",
    requests.exceptions.ChunkedEncodingError: "the connection broke off",
    requests.exceptions.ContentDecodingError: "the transfer was spoilt",
}
"""Failures that may pass, in words; a class stands before its base."""


def fetch(download: Download, raw: Path, mirror: str | None = None) -> Path:
    """A local path of `download`, whose checksum has just been verified.

    A folder mirror is read in place, without a copy. Otherwise the file is kept at raw/HOST/PATH,
    and fetched only where it is not there yet. A kept file that has become damaged is never
    replaced silently: its owner is told, and deletes it.

    Args:
        download: URL and checksum, from the catalogue.
        raw: folder of verified downloads.
        mirror: folder or base URL laid out as HOST/PATH; None or "" for the real hosts.
    Raises:
        DataError: the file cannot be had, or its checksum or size is not the catalogue's.
    """
    place = _host_and_path(download.url)
    kept = raw / place
    remote = bool(mirror) and urlsplit(mirror).scheme in ("http", "https")
    if mirror and not remote:
        folder = Path(mirror)
        if not folder.is_dir():
            raise DataError(f"{mirror}: no such folder; it was given as the mirror, AIAYN_MIRROR.")
        if (folder / place).is_file():
            _verify(folder / place, download, "Mend the mirror, or unset AIAYN_MIRROR.")
            return folder / place
        if not kept.is_file():
            raise DataError(
                f"{folder / place}: not in the mirror. "
                f"Put it there, or unset AIAYN_MIRROR to fetch {download.url}."
            )
    if kept.is_file():
        _verify(kept, download, "The file is damaged: delete it, and it will be fetched again.")
        return kept
    _download(f"{str(mirror).rstrip('/')}/{place}" if remote else download.url, download, kept)
    return kept


def _host_and_path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


def _verify(path: Path, download: Download, advice: str, shown_as: str = "") -> None:
    """Raises DataError unless the file has the declared checksum and, where declared, size."""
    kind, _, expected = download.checksum.partition(":")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, kind).hexdigest()
    is_right = found == expected.lower()
    size = path.stat().st_size
    if download.bytes is not None and size != download.bytes:
        if is_right:
            advice = f"Its {kind} is right: correct `bytes` in conf/catalogue."
        complaint = f"{size} bytes, the catalogue declares {download.bytes}"
    elif not is_right:
        complaint = f"{kind} is {found}, the catalogue expects {expected}"
    else:
        return
    raise DataError(f"{shown_as or path}: {complaint}. {advice}")


def _download(url: str, download: Download, final: Path) -> None:
    """Fetch `url` beside `final`, verify it, and only then give it its name."""
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = final.with_name(f".{final.name}.{os.getpid()}.partial")
    try:
        _get_with_retries(url, partial)
        _verify(
            partial,
            download,
            "The host serves another version, or the transfer was spoilt: try again, "
            "or correct the checksum in conf/catalogue if you trust the new file.",
            shown_as=url,
        )
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)


def _get(url: str, path: Path) -> None:
    with ExitStack() as connections:
        # pooch leaves the connection of a failed transfer open

        def close_at_the_end(response: requests.Response, **_: object) -> None:
            connections.callback(response.close)

        get = HTTPDownloader(  # type: ignore[no-untyped-call]
            progressbar=sys.stderr.isatty(),
            chunk_size=CHUNK_BYTES,
            hooks={"response": close_at_the_end},
        )
        get(url, str(path), None)


def _get_with_retries(url: str, path: Path) -> None:
    for attempt, pause in enumerate((*PAUSES_SECONDS, None), start=1):
        try:
            _get(url, path)
            return
        except requests.HTTPError as error:
            response = error.response
            assert response is not None
            complaint = f"HTTP {response.status_code} {response.reason}"
            if response.status_code < 500 and response.status_code not in (408, 429):
                raise DataError(
                    f"{url}: {complaint}. Check the url in conf/catalogue, "
                    "or set AIAYN_MIRROR to a mirror that has the file."
                ) from error
        except tuple(TRANSIENT) as error:
            complaint = next(words for kind, words in TRANSIENT.items() if isinstance(error, kind))
        except requests.RequestException as error:
            raise DataError(f"{url}: {error}. Check the url in conf/catalogue.") from error
        if pause is None:
            raise DataError(
                f"{url}: {complaint}, {attempt} times. "
                "Try again later, or set AIAYN_MIRROR to a mirror that has the file."
            )
        time.sleep(pause)
