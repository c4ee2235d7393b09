"""Does what the command line says: calls the room that does it, and prints what came of it.

What takes long to import is imported when its command is given: `aiayn --help` waits for
none of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from aiayn import config
from aiayn.commands.arguments import parser
from aiayn.commands.trained_runs import USES
from aiayn.errors import one_line_errors, printable
from aiayn.files import write_atomically
from aiayn.results import places


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and do what it says."""
    parsed = parser().parse_args(arguments)
    if parsed.command == "sync":
        _sync()
    elif parsed.command == "repro":
        _repro(parsed.stages, parsed.jobs)
    elif parsed.command == "verify":
        _verify(parsed.reproduction, parsed.json, parsed.page)
    elif parsed.command == "export":
        _export(parsed.run, parsed.to)
    else:
        _print(USES[parsed.command](parsed))


def _repro(stages: Sequence[str], jobs: int | None) -> None:
    from aiayn.commands.repro.side_by_side import repro

    repro(stages, jobs)


def _verify(reproduction: Path, json_file: Path | None, page: Path | None) -> None:
    from aiayn.commands.verification import verify
    from aiayn.commands.verification.cells import NoReproductionError

    try:
        verification = verify.verify(reproduction, Path())
    except NoReproductionError as error:
        print(printable(f"DataError: {error}"), file=sys.stderr)
        sys.exit(verify.NOTHING_COMPARES)
    if json_file:
        write_atomically(json_file, verify.to_json(verification))
    if page:
        write_atomically(page, verify.to_html(verification))
    _print(verify.to_lines(verification))
    sys.exit(verification.status)


def _export(run: str, engine: str) -> None:
    from aiayn.commands.export.exported import export

    done = export(config.load(), run, engine)
    trial = done.trial
    for name, score in trial.theirs.items():
        ours = trial.ours[name]
        print(f"{trial.split} {name}: {score.value:.2f} by {engine}, {ours.value:.2f} by aiayn")
    print(f"{trial.same} of {trial.sentences} hypotheses are the same.")
    print(f"{places.card(done.folder)} says how it is used.")


def _sync() -> None:
    from aiayn.tracking.store import StoreError, store_name
    from aiayn.tracking.sync import sync

    try:
        done = sync(config.load())
    except StoreError as error:
        sys.exit(f"MLflow at {store_name()}: {error}.")
    for warning in done.warnings:
        print(f"MLflow: {warning}", file=sys.stderr)
    print(done)


def _print(lines: Iterable[str]) -> None:
    """Lines to standard output; whoever reads it may stop early, as head does."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # what is left in the buffer would be written, and fail again, as Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
