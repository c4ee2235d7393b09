"""The command line `aiayn`: a function for each subcommand, whose docstring is its help.

Functions import their dependencies locally, so that `aiayn --help` is fast.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from aiayn import config
from aiayn.commands.console import print_lines
from aiayn.commands.inference import ATTENTION_KINDS, classify, parse, translate
from aiayn.errors import one_line_errors, printable
from aiayn.files import write_atomically
from aiayn.results import paths


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run its subcommand."""
    args = parse_arguments(arguments)
    args.function(args)


def parse_arguments(arguments: Sequence[str] | None = None) -> Namespace:
    """The command line's values, by default this process's. Sentences may also follow options."""
    args, rest = parser().parse_known_args(arguments)
    if rest and ("text" not in args or any(word.startswith("-") for word in rest)):
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.text += rest
    return args


def parser() -> ArgumentParser:
    """The parser of the command line; an error is one line, with exit status 2."""
    root = _Parser(prog="aiayn", description="Run the experiments, and use their trained models.")
    version = f"aiayn {importlib.metadata.version('aiayn')}"
    root.add_argument("--version", action="version", version=version)
    commands = root.add_subparsers(dest="command", required=True)

    def add(function: Callable[[Namespace], None]) -> ArgumentParser:
        summary, _, details = (function.__doc__ or "").partition(".")
        command = commands.add_parser(
            function.__name__, help=summary, description=f"{summary}.{details}"
        )
        command.set_defaults(function=function)
        return command

    for function in (translate, parse, classify):
        command = add(function)
        run = "a run of params.yaml"
        if function is translate:
            run += ", like en-de.base, or shipped: the English-German model that comes with aiayn"
        command.add_argument("run", help=run)
        command.add_argument("text", nargs="*", help="sentences (default: lines of stdin)")
        command.add_argument("--input", type=Path, metavar="FILE", help="a file of sentences")
        command.add_argument(
            "--attention", type=Path, metavar="SVG", help="draw the first sentence's attention"
        )
        if function is classify:
            command.set_defaults(beam=None, alpha=None, kind="encoder")
            continue
        command.add_argument("--beam", type=int, help="beam size (default: the task's)")
        command.add_argument("--alpha", type=float, help="length penalty (default: the task's)")
        command.add_argument(
            "--kind", choices=ATTENTION_KINDS, default="cross", help="of attention (default: cross)"
        )
        if function is parse:
            command.add_argument(
                "--svg", type=Path, metavar="FILE", help="draw the first sentence's tree"
            )

    command = add(repro)
    command.add_argument(
        "stages", nargs="*", help="run these and the stages they depend on; default: all"
    )
    command.add_argument(
        "--jobs", type=_positive, help="stages in parallel (default: cores / machine.threads)"
    )

    command = add(verify)
    command.add_argument("reproduction", type=Path, help=f"like {paths.REPRODUCTIONS}/multi30k")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write a JSON file")
    command.add_argument("--page", type=Path, metavar="FILE", help="also write an HTML page")

    command = add(report)
    command.add_argument("scales", nargs="+", help="scales that have been run, or their folders")
    command.add_argument(
        "--output", type=Path, metavar="FILE", default=Path("tables.html"),
        help="the page (default: tables.html)",
    )  # fmt: skip

    command = add(findings)
    command.add_argument("folder", type=Path, help=f"like {paths.REPRODUCTIONS}/multi30k")

    command = add(join)
    command.add_argument("here", type=Path, help=f"a scale's folder, like {paths.SCALES}/tatoeba")
    command.add_argument("other", type=Path, help="that scale's folder in another clone")

    command = add(publish)
    command.add_argument(
        "name", nargs="?", help="default: write only the pages about all reproductions"
    )
    command.add_argument(
        "--force", action="store_true", help="also with uncommitted code or outdated stages"
    )

    command = add(export)
    command.add_argument("run", help="a run of params.yaml, like en-de.base, or shipped")
    command.add_argument("--to", required=True, choices=("ctranslate2", "transformers", "onnx"))

    command = add(rehearse)
    command.add_argument("scale", nargs="?", help="a file of conf/scale (default: the demo)")
    command.add_argument("--launcher", help="a file of conf/launcher (default: the scale's)")
    command.add_argument("--gpus", help="for each training (default: the launcher's)")

    add(sync)
    return root


def repro(args: Namespace) -> None:
    """Run the pipeline, several stages in parallel.

    Equivalent to `dvc repro`, with the same outputs.
    """
    from aiayn.commands.repro import parallel

    parallel.repro(args.stages, args.jobs)


def verify(args: Namespace) -> None:
    """Compare the results here with a published reproduction.

    Compares every published figure with ours (the same, inside or outside the expected interval),
    hashes every file in dvc.lock on both sides, recomputes scores, and lists the differences in
    code, data, parameters, versions and machine. Writes nothing. Exit status 0: nothing is outside,
    missing, damaged or contradictory; 1: something is; 2: there is nothing to compare.
    """
    from aiayn.commands.verification import verification
    from aiayn.commands.verification.figures import NoReproductionError

    try:
        found = verification.verify(args.reproduction, Path())
    except NoReproductionError as error:
        print(printable(f"DataError: {error}"), file=sys.stderr)
        sys.exit(verification.NOTHING_COMPARABLE)
    if args.json:
        write_atomically(args.json, found.model_dump_json(indent=2) + "\n")
    if args.page:
        write_atomically(args.page, verification.to_html(found))
    print_lines(verification.to_lines(found), found.status)


def report(args: Namespace) -> None:
    """Write one page of the paper's tables from several scales.

    Each of the four tables and the findings are from the first scale that has results for them, and
    name it; each figure links to that scale's own report.
    """
    from aiayn.commands.repro.scale_folder import folder_of
    from aiayn.report.paper_tables import tables_html

    top = paths.project()
    folders = [
        Path(scale) if Path(scale, config.PARAMS).exists() else folder_of(top, scale)
        for scale in args.scales
    ]
    write_atomically(args.output, tables_html(folders, args.output))
    print(args.output)


def findings(args: Namespace) -> None:
    """Recompute every p-value of a reproduction from its records.

    Reads comparisons/sentences.csv.gz, the histories and the parameters; needs neither weights nor
    text. Prints the tests of the paper's statements. Exit status 1: a value differs from
    comparisons/table_3.json.
    """
    from aiayn.commands.findings import rederive, to_lines

    found = rederive(args.folder)
    print_lines(to_lines(found), found.status)


def join(args: Namespace) -> None:
    """Add the runs that were trained in another clone.

    Copies the results that only the other folder has, with their entries in dvc.lock, so that they
    do not run again. Every file of both is hashed first. Afterwards aiayn repro runs the stages
    that read all runs, like the report.
    """
    from aiayn.commands.join import join as join_folders

    done = join_folders(args.here, args.other)
    print(
        f"{args.here}: {len(done.copied)} stages were added from {args.other}; "
        f"{len(done.in_both)} were in both."
    )


def publish(args: Namespace) -> None:
    """Copy the results here to a reproduction.

    Copies the text files of the results to reproductions/NAME, and writes its README.md and the
    table of all reproductions. Without NAME: writes the table and the pages about all findings.
    """
    from aiayn.commands.publication import documents
    from aiayn.commands.publication.publish import publish as publish_results
    from aiayn.commands.publication.reproductions_table import write_table

    if args.name is None:
        documents.write(paths.project())
        write_table(paths.project() / paths.REPRODUCTIONS)
    else:
        print(publish_results(args.name, force=args.force))


def export(args: Namespace) -> None:
    """Export a trained run to another inference engine.

    Writes exports/RUN.ENGINE with a model card, and translates the test set with the engine, whose
    beam search or arithmetic differs from ours. Each engine is an extra of this package.
    """
    from aiayn.commands.export.export import export as export_run

    done = export_run(args.run, args.to)
    if done:
        for name, theirs in done.theirs.items():
            ours = done.ours[name]
            print(
                f"{done.split} {name}: {theirs.value:.2f} by {args.to}, {ours.value:.2f} by aiayn"
            )
        print(f"{done.same} of {done.sentences} hypotheses are the same.")
    print(f"How to use it: {paths.card(paths.export(args.run, args.to))}")


def rehearse(args: Namespace) -> None:
    """Check this machine before a long run.

    Trains the scale's models for a few steps with its launcher, stops and resumes, and runs every
    stage, on generated text; then reports the memory, disk and time that the real run needs, and
    what this machine lacks. Downloads and changes nothing. Exit status 1: something failed or is
    missing.
    """
    from aiayn.commands.rehearsal.rehearse import rehearse as rehearse_scale

    sys.exit(0 if rehearse_scale(Path(), args.scale, args.launcher, args.gpus) else 1)


def sync(args: Namespace) -> None:
    """Mirror finished runs to the MLflow store."""
    from aiayn.tracking.store import StoreError, store_name
    from aiayn.tracking.sync import sync as sync_runs

    try:
        done = sync_runs(config.load())
    except StoreError as error:
        sys.exit(f"MLflow at {store_name()}: {error}.")
    for warning in done.warnings:
        print(f"MLflow: {warning}", file=sys.stderr)
    print(done)


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")


class _Parser(ArgumentParser):
    """Reports an error on one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"{self.prog}: {message}. See {self.prog} --help") + "\n")
