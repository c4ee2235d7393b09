"""The folder of a scale: the project's top folder for the demo, scales/NAME for all others.

A scale's folder has its own parameters, dvc.lock, data, models and report, and a copy of dvc.yaml
that refers to the project's code. DVC's cache, downloads and the MLflow store are shared.

`make` runs this file in the top folder: it prepares the folder and prints its path.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from aiayn import config
from aiayn.config.compose import compose_params, write_params
from aiayn.config.dvc_yaml import DVC_YAML
from aiayn.errors import ConfigError, one_line_errors
from aiayn.files import write_atomically
from aiayn.results import paths
from aiayn.validation import check_name

TOP_SCALE = "demo"  # its folder is the project's top folder
TOP_LINE, BELOW_LINE = "\n  - root: .\n", "\n  - root: ../..\n"


def folder_of(top: Path, scale: str | None) -> Path:
    """The folder of a scale; without a scale, the top folder.

    Raises:
        ConfigError: the name is invalid.
    """
    if scale is None or scale == TOP_SCALE:
        return top
    return _named_folder(top, scale, "scale")


def _named_folder(top: Path, name: str, option: str) -> Path:
    try:
        return top / paths.SCALES / check_name(name)
    except ValueError as error:
        raise ConfigError(f"{option} {error}") from None


def prepare(
    top: Path, scale: str | None = None, launcher: str | None = None, gpus: str | None = None
) -> Path:
    """Compose a scale's parameters in its folder; without arguments, keep the existing ones.

    Args:
        top: the project's folder.
        scale, launcher, gpus: as for `write_params`; without a scale, that of the top folder.
    Returns:
        The scale's folder.
    Raises:
        ConfigError: as `write_params`, or params.yaml cannot be read; nothing was changed.
    """
    folder = folder_of(top, scale)
    if scale is None and (launcher or gpus) and (top / config.PARAMS).exists():
        scale = config.load(top / config.PARAMS).scale
    if scale or launcher or gpus:
        write_params(top, scale, launcher, gpus, folder)
    elif _differ_from_conf(top):
        print(
            f"{config.PARAMS} is used as it is, though conf/ composes other parameters. To take "
            "those, run make params first.",
            file=sys.stderr,
        )
    _write_dvc_yaml(top, folder)
    return folder


def _differ_from_conf(top: Path) -> bool:
    """Whether the parameters in force, if any, are not what conf/ composes now; any launcher
    will do."""
    path = top / config.PARAMS
    if not path.exists():
        return False
    composed = config.read_yaml(compose_params(top, config.load(path).scale))
    current = config.read_yaml(path.read_bytes())
    return {**current, "launcher": None} != {**composed, "launcher": None}


def copy_reproduction(top: Path, reproduction: Path) -> Path:
    """Copy a published reproduction to scales/NAME, unless the folder exists.

    Returns:
        The scale's folder.
    Raises:
        ConfigError: it is not a reproduction, or the existing folder has other parameters.
    """
    name = reproduction.resolve().name
    folder = _named_folder(top, name, "FROM")
    params, ours = reproduction / config.PARAMS, folder / config.PARAMS
    if not params.is_file():
        raise ConfigError(f"{params}: there is no such file. Name a reproduction's folder.")
    if not folder.exists():
        partial = folder.with_name(f".{name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(reproduction, partial, ignore=shutil.ignore_patterns("README.md"))
        partial.rename(folder)
        print(
            f"{folder}: a copy of {reproduction}, without data and weights. The stages that make "
            "them run again; stages downstream only if their outputs differ.",
            file=sys.stderr,
        )
    elif not ours.is_file() or ours.read_bytes() != params.read_bytes():
        raise ConfigError(
            f"{folder} exists, with other parameters than {reproduction}. Continue it by aiayn "
            "repro in that folder, or move it away."
        )
    _write_dvc_yaml(top, folder)
    return folder


def _write_dvc_yaml(top: Path, folder: Path) -> None:
    """Copy dvc.yaml to a scale's folder, with the relative path to the top folder."""
    if folder == top:
        return
    before, line, after = (top / DVC_YAML).read_text(encoding="utf-8").partition(TOP_LINE)
    if not line:
        raise ConfigError(
            f"{DVC_YAML}: the line '{TOP_LINE.strip()}' below vars is missing. Restore it."
        )
    write_atomically(folder / DVC_YAML, f"{before}{BELOW_LINE}{after}")


@one_line_errors
def main() -> None:
    """Prepare the folder of the scale that the command line names, and print its path."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", help="a file of conf/scale")
    parser.add_argument("--launcher", help="a file of conf/launcher")
    parser.add_argument("--gpus", help="for each training")
    parser.add_argument("--from", dest="reproduction", type=Path, help="a published reproduction")
    parser.add_argument("--existing", action="store_true", help="leave the folder as it is")
    args = parser.parse_args()
    top = Path()
    if args.existing:
        folder = folder_of(top, args.scale)
        if not (folder / config.PARAMS).is_file():
            raise ConfigError(
                f"{folder} has no {config.PARAMS}. Run make repro SCALE={args.scale}."
            )
    elif args.reproduction:
        if args.scale or args.launcher or args.gpus:
            raise ConfigError("FROM has its own parameters: leave out SCALE, LAUNCHER and GPUS.")
        folder = copy_reproduction(top, args.reproduction)
    else:
        folder = prepare(top, args.scale, args.launcher, args.gpus)
    print(folder)


if __name__ == "__main__":
    main()
