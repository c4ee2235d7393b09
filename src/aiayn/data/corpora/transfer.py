"""Downloading a file over an unreliable connection: each attempt resumes the previous one."""

from __future__ import annotations

import os
import re
from threading import Event
from typing import IO
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, NameResolutionError, ReadTimeoutError

from aiayn.errors import DataError

PAUSES_SECONDS: tuple[float, ...] = (1, 2, 4, 8, 16, 32, 64)
"""Waits between attempts without progress; progress resets them to the first."""

UNRESOLVED_ATTEMPTS = 3
"""For a host whose name cannot be resolved, until it has sent something: it may not exist."""

CONNECT_SECONDS = 10.0
STALL_SECONDS = 30.0
"""A connection without data for this long is closed and retried."""

BLOCK_BYTES = 1 << 16
_RETRYABLE = {
    requests.Timeout: "no answer in time",
    requests.exceptions.SSLError: "no secure connection",
    requests.ConnectionError: "no connection",
}
"""Retried failures before the first byte, with their text; subclasses before their base."""

BEYOND_THE_END = 416
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")  # of RFC 9110, section 14.4
_UNCOMPRESSED = {
    "Accept-Encoding": "identity"
}  # the checksum is that of the file, not of a compressed transfer


class StoppedError(Exception):
    """Another download failed in a way that stops all of them."""


class _TransientError(Exception):
    """A failure after which another attempt may succeed."""


class _UnresolvedError(_TransientError):
    """The host's name cannot be resolved."""


def size_at(url: str) -> int | None:
    """The size of a file in bytes according to its host; None if the host does not say.

    Raises:
        DataError: the host cannot be reached, or does not have the file.
    """
    try:
        with requests.head(
            url, headers=_UNCOMPRESSED, allow_redirects=True, timeout=CONNECT_SECONDS
        ) as response:
            if response.status_code in (405, 501):  # a host that supports only GET
                return None
            _raise_for(response, url)
            return _number(response.headers.get("Content-Length"))
    except (requests.RequestException, _TransientError) as error:
        raise DataError(f"{url}: {_in_words(error)}.") from error


def transfer(
    url: str, file: IO[bytes], size: int | None, stop: Event, most: int | None = None
) -> int:
    """Append the missing part of `url` to `file`, with retries.

    The content of `file` is taken as the beginning, and only the rest is requested. A host without
    support for ranges sends everything again. The caller's checksum verifies that the parts match.

    Args:
        file: opened to append, unbuffered, so that received bytes survive the end of this process.
        size: of the whole file, if known; a response of another length is rejected.
        stop: set to end the transfer.
        most: limit in bytes if the size is unknown; a longer response is rejected.
    Returns:
        The byte at which the last response began: 0 if the file came in one piece.
    Raises:
        DataError: all attempts failed, the response exceeds `most`, or the host does not have the
            file.
        StoppedError: `stop` was set.
        OSError: `file` cannot be written, as on a full disk.
    """
    furthest, failures = _held(file), 0
    while True:
        try:
            return _attempt(url, file, size, stop, most)
        except _TransientError as error:
            held = _held(file)
            # only bytes beyond `furthest` count as progress: a host without ranges starts over
            failures = 1 if held > furthest else failures + 1
            furthest = max(furthest, held)
            unresolved = isinstance(error, _UnresolvedError) and not furthest
            if failures >= UNRESOLVED_ATTEMPTS and unresolved:
                host = urlsplit(url).hostname
                raise DataError(
                    f"{url}: the host {host} cannot be found. Check the url in conf/catalogue and "
                    "the network, or set AIAYN_MIRROR to a mirror that has the file."
                ) from error
            if failures > len(PAUSES_SECONDS):
                kept = f"; {held:,} bytes are kept and will be resumed" if held else ""
                raise DataError(
                    f"{url}: {error}, {failures} times. Try again later{kept}, "
                    "or set AIAYN_MIRROR to a mirror that has the file."
                ) from error
        if stop.wait(PAUSES_SECONDS[failures - 1]):
            raise StoppedError


def _attempt(url: str, file: IO[bytes], size: int | None, stop: Event, most: int | None) -> int:
    """As `transfer`, in one request. Raises _TransientError if it does not complete the file."""
    held = _held(file)
    if size is not None and held >= size:
        if held == size:
            return held
        held = file.truncate(0)
    headers = {"Range": f"bytes={held}-"} if held else {}
    try:
        with requests.get(
            url,
            headers=_UNCOMPRESSED | headers,
            stream=True,
            timeout=(CONNECT_SECONDS, STALL_SECONDS),
        ) as response:
            first, whole = _extent(response)
            is_beyond = bool(held) and response.status_code == BEYOND_THE_END
            if not is_beyond:
                _raise_for(response, url)
            if size is not None and whole is not None and whole != size:
                raise _TransientError(f"the host has {whole} bytes, the catalogue declares {size}")
            if is_beyond and whole == held:  # already complete
                return held
            if is_beyond or first not in (0, held):
                file.truncate(0)
                raise _TransientError("the host does not send the requested part")
            if first != held:  # no support for ranges
                file.truncate(0)
            _append(response, file, whole if size is None else size, stop, most)
            return first
    except tuple(_RETRYABLE) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        kind = _UnresolvedError if isinstance(reason, NameResolutionError) else _TransientError
        raise kind(_in_words(error)) from error
    except requests.RequestException as error:
        raise DataError(f"{url}: {error}. Check the url in conf/catalogue.") from error
    except ReadTimeoutError as error:
        raise _TransientError("the connection stalled") from error
    except HTTPError as error:
        raise _TransientError("the connection broke off") from error


def _append(
    response: requests.Response, file: IO[bytes], size: int | None, stop: Event, most: int | None
) -> None:
    # read1 returns partial blocks, so that nothing is lost if the connection breaks
    while block := response.raw.read1(BLOCK_BYTES, decode_content=False):
        if stop.is_set():
            raise StoppedError
        rest = memoryview(block)
        while rest:  # an unbuffered write may be partial
            rest = rest[file.write(rest) :]
        if size is not None and _held(file) > size:
            file.truncate(0)
            raise _TransientError(f"more than the declared {size} bytes were received")
        if size is None and most is not None and _held(file) > most:
            file.truncate(0)
            raise DataError(
                f"{response.url}: sends more than {most:,} bytes, the announced size or the usable "
                "disk space. Declare `bytes` in conf/catalogue if the file is larger."
            )
    if size is not None and _held(file) < size:
        raise _TransientError("the connection broke off")


def _extent(response: requests.Response) -> tuple[int, int | None]:
    """The byte of the file at which a response begins, and the size of the file, if stated."""
    match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if match:
        return int(match[1] or 0), _number(match[2])
    is_whole = response.status_code == requests.codes.ok
    return 0, _number(response.headers.get("Content-Length")) if is_whole else None


def _raise_for(response: requests.Response, url: str) -> None:
    """Raises _TransientError for a status that is worth a retry, DataError for other errors."""
    status = response.status_code
    if status < 400:
        return
    words = f"HTTP {status} {response.reason}"
    if status >= 500 or status in (408, 429):
        raise _TransientError(words)
    raise DataError(
        f"{url}: {words}. "
        "Check the url in conf/catalogue, or set AIAYN_MIRROR to a mirror that has the file."
    )


def _in_words(error: Exception) -> str:
    return next(
        (words for kind, words in _RETRYABLE.items() if isinstance(error, kind)), str(error)
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _held(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)
