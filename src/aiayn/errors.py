"""Errors, by cause. A message says in one line what was given, where, and what to do."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec


class AiaynError(Exception):
    """An error that a user can fix. Stages print it as one line and exit with status 1."""


class ConfigError(AiaynError):
    """A parameter is unknown, missing, of the wrong type, or contradicts another."""


class DataError(AiaynError):
    """A corpus, archive or array is missing, damaged, or not what was declared."""


class CheckpointError(AiaynError):
    """Weights or training state are missing, damaged, or belong to something else."""


class TrainingError(AiaynError):
    """Training cannot continue: the loss diverged, or the requested device is not available."""


class ScoreError(AiaynError):
    """A score cannot be computed from its inputs, or a score file is not what was expected."""


class ProfileError(AiaynError):
    """A cost cannot be counted, or a profile is not what was expected."""


class GraphError(AiaynError):
    """The graph of stages cannot be read, or DVC rejects a stage's dependency or output."""


P = ParamSpec("P")


def one_line_errors(main: Callable[P, None]) -> Callable[P, None]:
    """Make a stage end with a one-line message instead of a traceback if a user can fix the cause.

    That includes operating-system errors (a full disk, a read-only folder) and a GPU without
    enough memory. The final garbage collection is skipped: over all that torch imports, it takes
    half a second.
    """

    @wraps(main)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        atexit.register(gc.freeze)
        try:
            main(*args, **kwargs)
        except AiaynError as error:
            sys.exit(printable(f"{type(error).__name__}: {error}"))
        except OSError as error:
            file = f": {error.filename}" if error.filename else ""
            sys.exit(
                printable(f"{type(error).__name__}: {error.strerror or error}{file}. ")
                + "Free disk space or correct the permissions, and run again."
            )
        except RuntimeError as error:
            if type(error).__name__ != "OutOfMemoryError":  # torch's, which is not imported here
                raise
            sys.exit(
                printable(f"OutOfMemoryError: {str(error).partition('. ')[0]}. ")
                + "Use a GPU with more memory, or lower training.batch_tokens, raise "
                "training.micro_batches, or decode with a smaller beam."
            )
        except KeyboardInterrupt:
            print("Stopped.", file=sys.stderr)
            sys.exit(128 + signal.SIGINT)

    return guarded


def printable(text: str) -> str:
    """The text on one line and safe for a terminal: control characters and undecodable bytes, as in
    names of files and of archive members, become Python escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
