"""One file over HTTP on a line that breaks: each attempt goes on where the last one stopped."""

from __future__ import annotations

import os
import re
from threading import Event
from typing import IO

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from aiayn.errors import DataError

PAUSES_SECONDS: tuple[float, ...] = (1, 2, 4, 8, 16, 32, 64)
"""Waits between attempts that bring nothing. Every byte that comes begins the row anew."""

CONNECT_SECONDS = 10.0
STALL_SECONDS = 30.0
"""A line on which nothing comes for so long is given up, and another attempt made."""

BLOCK_BYTES = 1 << 16
_SORRY = {
    requests.Timeout: "no answer in time",
    requests.exceptions.SSLError: "no secure connection",
    requests.ConnectionError: "no connection",
}
"""Failures before the first byte that may pass, in words; a class stands before its base."""

BEYOND_THE_END = 416
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")  # of RFC 9110, section 14.4
_AS_IT_LIES = {"Accept-Encoding": "identity"}  # a checksum is of the file, not of its transport


class StoppedError(Exception):
    """Another download has failed for a reason that stops all."""


class _PassingError(Exception):
    """What may be better at the next attempt, in words."""


def size_at(url: str) -> int | None:
    """How many bytes a host says that a file has; None where it does not say.

    Raises:
        DataError: the host cannot be reached, or does not have the file.
    """
    try:
        with requests.head(
            url, headers=_AS_IT_LIES, allow_redirects=True, timeout=CONNECT_SECONDS
        ) as response:
            if response.status_code in (405, 501):  # a host that knows GET alone
                return None
            _raise_for(response, url)
            return _number(response.headers.get("Content-Length"))
    except (requests.RequestException, _PassingError) as error:
        raise DataError(f"{url}: {_in_words(error)}.") from error


def transfer(
    url: str, file: IO[bytes], size: int | None, stop: Event, most: int | None = None
) -> int:
    """Append to `file` what it lacks of `url`, in as many attempts as that takes.

    What `file` holds is taken for the beginning, and only the rest is asked for. A host that knows
    no ranges sends everything anew. Whether all of it belongs together is the checksum's to tell.

    Args:
        file: opened to append, unbuffered: what has come survives whatever ends this process.
        size: of the whole, where it is known; an answer of another length is not taken.
        stop: set by whoever wants an end of it.
        most: bytes of the whole, where its size is not known: what exceeds them is not kept.
    Returns:
        At which byte the last answer began: 0 if the file came in one piece.
    Raises:
        DataError: nothing more comes, more than `most` comes, or the host does not have the file.
        StoppedError: `stop` was set.
        OSError: `file` takes no more, as on a full disk.
    """
    furthest, failures = _held(file), 0
    while True:
        try:
            return _attempt(url, file, size, stop, most)
        except _PassingError as error:
            held = _held(file)
            # a host without ranges may start over forever: only what was never there is progress
            failures = 1 if held > furthest else failures + 1
            furthest = max(furthest, held)
            if failures > len(PAUSES_SECONDS):
                kept = f"; {held:,} bytes are kept and need not come again" if held else ""
                raise DataError(
                    f"{url}: {error}, {failures} times. Try again later{kept}, "
                    "or set AIAYN_MIRROR to a mirror that has the file."
                ) from error
        if stop.wait(PAUSES_SECONDS[failures - 1]):
            raise StoppedError


def _attempt(url: str, file: IO[bytes], size: int | None, stop: Event, most: int | None) -> int:
    """As `transfer`, with one answer of the host. Raises _PassingError where it falls short."""
    held = _held(file)
    if size is not None and held >= size:
        if held == size:
            return held
        held = file.truncate(0)
    asked = {"Range": f"bytes={held}-"} if held else {}
    try:
        with requests.get(
            url,
            headers=_AS_IT_LIES | asked,
            stream=True,
            timeout=(CONNECT_SECONDS, STALL_SECONDS),
        ) as response:
            first, whole = _extent(response)
            is_beyond = bool(held) and response.status_code == BEYOND_THE_END
            if not is_beyond:
                _raise_for(response, url)
            if size is not None and whole is not None and whole != size:
                raise _PassingError(f"the host has {whole} bytes, the catalogue declares {size}")
            if is_beyond and whole == held:  # all of it was there
                return held
            if is_beyond or first not in (0, held):
                file.truncate(0)
                raise _PassingError("the host does not send the part that is asked for")
            if first != held:  # it knows no ranges
                file.truncate(0)
            _append(response, file, whole if size is None else size, stop, most)
            return first
    except tuple(_SORRY) as error:
        raise _PassingError(_in_words(error)) from error
    except requests.RequestException as error:
        raise DataError(f"{url}: {error}. Check the url in conf/catalogue.") from error
    except ReadTimeoutError as error:
        raise _PassingError("the line stalled") from error
    except HTTPError as error:
        raise _PassingError("the connection broke off") from error


def _append(
    response: requests.Response, file: IO[bytes], size: int | None, stop: Event, most: int | None
) -> None:
    # what there is of a block, not whole blocks: half of one is not lost on a line that breaks
    while block := response.raw.read1(BLOCK_BYTES, decode_content=False):
        if stop.is_set():
            raise StoppedError
        rest = memoryview(block)
        while rest:  # an unbuffered file may take less than it is given
            rest = rest[file.write(rest) :]
        if size is not None and _held(file) > size:
            file.truncate(0)
            raise _PassingError(f"more bytes came than the {size} of the file")
        if size is None and most is not None and _held(file) > most:
            file.truncate(0)
            raise DataError(
                f"{response.url}: sends more than {most:,} bytes, which is what it announced, or "
                "what the disk has room for. Declare `bytes` in conf/catalogue if it is to be more."
            )
    if size is not None and _held(file) < size:
        raise _PassingError("the connection broke off")


def _extent(response: requests.Response) -> tuple[int, int | None]:
    """At which byte of the file an answer begins, and the size of the whole, if it is said."""
    said = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if said:
        return int(said[1] or 0), _number(said[2])
    is_whole = response.status_code == requests.codes.ok
    return 0, _number(response.headers.get("Content-Length")) if is_whole else None


def _raise_for(response: requests.Response, url: str) -> None:
    """Raises _PassingError for a status that may pass, DataError for one that will not."""
    status = response.status_code
    if status < 400:
        return
    words = f"HTTP {status} {response.reason}"
    if status >= 500 or status in (408, 429):
        raise _PassingError(words)
    raise DataError(
        f"{url}: {words}. "
        "Check the url in conf/catalogue, or set AIAYN_MIRROR to a mirror that has the file."
    )


def _in_words(error: Exception) -> str:
    return next((words for kind, words in _SORRY.items() if isinstance(error, kind)), str(error))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _held(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)
