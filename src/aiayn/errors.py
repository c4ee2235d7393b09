"""What can go wrong, by cause. A message says what was given, where, and what to do: one line."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec


class AiaynError(Exception):
    """Anything a user can put right. Stages print it as one line and exit with status 1."""


class ConfigError(AiaynError):
    """A parameter is unknown, missing, of the wrong type, or contradicts another."""


class DataError(AiaynError):
    """A corpus, archive or array is missing, damaged, or not what was declared."""


class CheckpointError(AiaynError):
    """Weights or training state are missing, damaged, or belong to something else."""


class TrainingError(AiaynError):
    """Training cannot go on: the loss diverged, or the device that was asked for is not there."""


class ScoreError(AiaynError):
    """A score cannot be computed from what was given, or a score file is not what was expected."""


class ProfileError(AiaynError):
    """A cost cannot be counted, or a profile is not what was expected."""


class GraphError(AiaynError):
    """The graph of stages cannot be read, or DVC cannot take what a stage read or made."""


P = ParamSpec("P")


def one_line_errors(main: Callable[P, None]) -> Callable[P, None]:
    """Make a stage end on one clear line, not on a traceback, when a user can put the cause right.

    Operating-system errors (a full disk, a read-only folder) are the user's to mend too; ctrl-C is
    no error. The process then ends without a last search for garbage among all that torch imports,
    which takes half a second.
    """

    @wraps(main)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        atexit.register(gc.freeze)
        try:
            main(*args, **kwargs)
        except AiaynError as error:
            sys.exit(printable(f"{type(error).__name__}: {error}"))
        except OSError as error:
            place = f": {error.filename}" if error.filename else ""
            sys.exit(
                printable(f"{type(error).__name__}: {error.strerror or error}{place}. ")
                + "Make room there, or correct its permissions, and run again."
            )
        except KeyboardInterrupt:
            print("Stopped.", file=sys.stderr)
            sys.exit(128 + signal.SIGINT)

    return guarded


def printable(text: str) -> str:
    """In one line, and harmless to a terminal: what names of files and archives may hold of control
    characters, and of bytes that are no text, as Python escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
