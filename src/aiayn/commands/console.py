"""Text in and out of the command line: UTF-8 in any locale; arguments, files and pipes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from aiayn.errors import ConfigError, DataError

MAX_BYTES = 256 << 20  # of sentences


def read_sentences(given: Sequence[str], file: Path | None) -> tuple[str, list[str]]:
    """The name of the source (arguments, a file or stdin) and its lines, without a byte order mark
    and Windows' line ends.

    Raises:
        ConfigError: both arguments and a file are given.
        DataError: there is no sentence, or it is not UTF-8, or there is too much.
    """
    if given and file:
        raise ConfigError("give sentences or --input, not both.")
    if given:
        source = "the sentences given"
        # the shell passes bytes, which Python keeps even if they are not valid text
        content = os.fsencode("\n".join(" ".join(text.split("\n")) for text in given))
    elif file:
        source = str(file)
        if file.is_dir():
            raise DataError(f"{source}: is a folder. Give a file with one sentence per line.")
        if not file.exists():
            raise DataError(f"{source}: there is no such file.")
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    else:
        source = "stdin"
        if sys.stdin.isatty():
            print("One sentence per line; Ctrl-D ends the input.", file=sys.stderr)
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise DataError(
            f"{source}: more than {MAX_BYTES >> 20} MiB. Split it, or check that it ends."
        )
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{source}: not UTF-8 at byte {error.start}.") from error
    sentences = text.removesuffix("\n").split("\n")
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{source}: there is no sentence.")
    return source, sentences


def print_lines(lines: Iterable[str], status: int = 0) -> None:
    """Print lines in UTF-8, like the input, in any locale; then exit if the status is not 0. The
    reader may close the pipe early, like head."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # at exit, Python would flush the buffer and fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    if status:
        sys.exit(status)
