"""Do unlike machines give the same results? The demo, run on simulated ones, compared with one run.

Each variant runs in a copy of the project: with other instructions, threads, or an interpreter with
another Python or torch. The first, `default`, is what the others are compared with, and is itself
compared with the published reproduction. A variant that has been run in the folder is continued,
which takes seconds if it was finished.

Prints a row for each variant: outputs of text and vocabularies, and other outputs, with the same
digest in dvc.lock; verdicts of the report that are the same; what `aiayn verify` says of its
figures, and the causes of other bytes. Exits with 1 if text or a verdict differs, if a figure is
outside its interval, or if other bytes have no cause.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from benchmarks.project_copy import REPOSITORY, copy_project

from aiayn.commands.verification.verification import Verification, verify
from aiayn.results import paths
from aiayn.results.lock import Lock

DEFAULT = "default"
DATA = ("data",)
OUTPUTS = ("models", "history", "outputs", "scores", "comparisons", "profiles", "illustrations")


class Variant(NamedTuple):
    """A simulated machine: parameters (as Hydra takes them), environment and interpreter."""

    overrides: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    python: str = sys.executable


VARIANTS = {
    DEFAULT: Variant(),
    "avx2": Variant(
        environment={
            "ATEN_CPU_CAPABILITY": "avx2",
            "MKL_ENABLE_INSTRUCTIONS": "AVX2",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
        }
    ),
    "threads-2": Variant(overrides=("machine.threads=2",)),
}


def main() -> None:
    """Run the variants and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the variants run")
    parser.add_argument(
        "--python", action="append", default=[], metavar="NAME=PATH",
        help="also a variant with this interpreter, which has the project's packages",
    )  # fmt: skip
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these and the default")
    args = parser.parse_args()
    added = dict(each.split("=", 1) for each in args.python)
    variants = VARIANTS | {name: Variant(python=path) for name, path in added.items()}
    names = [DEFAULT, *(n for n in variants if n != DEFAULT and (not args.only or n in args.only))]
    folder = args.folder.resolve()
    for name in names:
        _run(folder / name, variants[name])
    published = paths.REPRODUCTIONS / "demo"
    reports = {name: verify(folder / DEFAULT, folder / name) for name in names[1:]}
    reports[DEFAULT] = verify(REPOSITORY / published, folder / DEFAULT)
    print("| machine | text, vocabularies | other outputs | verdicts | figures | causes |")
    print("| --- | --- | --- | --- | --- | --- |")
    failed = [name for name in names if not _row(folder, name, reports[name])]
    sys.exit(f"Other text, verdicts or figures: {', '.join(failed)}" if failed else 0)


def _run(root: Path, variant: Variant) -> None:
    if not root.exists():
        root.mkdir(parents=True)
        copy_project(root, variant.overrides)
    bin_folder = str(Path(variant.python).parent)
    environment = {
        **os.environ,
        **variant.environment,
        "PATH": os.pathsep.join([bin_folder, os.environ["PATH"]]),
        "PYTHONPATH": str(root / "src"),
    }
    subprocess.run([variant.python, "-m", "aiayn", "repro"], cwd=root, env=environment, check=True)


def _row(folder: Path, name: str, found: Verification) -> bool:
    """Print the row of a variant; whether it has nothing that only another machine would not."""
    here = folder / name
    base = REPOSITORY if name == DEFAULT else folder / DEFAULT
    text, outputs = (_compared(base, here, tops) for tops in (DATA, OUTPUTS))
    theirs, ours = _verdicts(base), _verdicts(here)
    same = sum(theirs.get(key) == verdict for key, verdict in ours.items())
    causes = dict.fromkeys(
        cause.what
        for run in found.runs
        for cause in run.causes
        if not (name == DEFAULT and cause.kind == "code")
    )
    unknown = any(cause.kind == "unknown" for run in found.runs for cause in run.causes)
    figures = ", ".join(f"{count} {verdict}" for verdict, count in found.counts.items())
    cells = (
        name,
        "{} of {}".format(*text),
        "{} of {}".format(*outputs),
        f"{same} of {len(ours)}",
        figures,
        "; ".join(causes) or "none",
    )
    print(f"| {' | '.join(cells)} |")
    return (
        text[0] == text[1]
        and same == len(ours) == len(theirs)
        and not (found.status or unknown)
    )  # fmt: skip


def _compared(one: Path, other: Path, tops: tuple[str, ...]) -> tuple[int, int]:
    """How many outputs below the folders have the same digests in dvc.lock, of how many."""
    first, second = (_digests(root, tops) for root in (one, other))
    names = {*first, *second}
    return sum(first.get(name) == second.get(name) for name in names), len(names)


def _digests(root: Path, tops: tuple[str, ...]) -> dict[str, str | None]:
    return {
        path: digest
        for entry in Lock(root / paths.LOCK).stages.values()
        for path, digest in entry.outs.items()
        if Path(path).parts[0] in tops
    }


def _verdicts(root: Path) -> dict[tuple[str, str], str]:
    """The verdicts in the report's tables, by table and row."""
    return {
        (file.name, str(row)): str(verdict)
        for file in sorted((root / paths.REPORT_TABLES).glob("*.csv"))
        if "verdict" in (table := pd.read_csv(file))
        for row, verdict in table["verdict"].dropna().items()
    }


if __name__ == "__main__":
    main()
