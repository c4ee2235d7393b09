"""What a scale asks for and this machine does not have, each in a line that says what to do."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from aiayn.config import Config, Text
from aiayn.data.corpora.fetching import Source, source
from aiayn.data.corpora.transfer import size_at
from aiayn.data.corpora.treebanks import treebank_trees
from aiayn.errors import DataError
from aiayn.files import free_bytes
from aiayn.model.device import Device
from aiayn.results import places

ASKED_AT_A_TIME = 8


def missing_treebanks(params: Config) -> list[str]:
    """Folders of licensed trees that are not named, or hold no tree that can be read."""
    lacks = []
    used = dict.fromkeys(name for task in params.tasks.values() for name in _corpora(task.text))
    for name in used:
        treebank = params.catalogue.corpora[name].treebank
        if treebank is not None and treebank.folder is not None:
            try:
                next(treebank_trees(name, treebank, {}), None)
            except DataError as error:
                lacks.append(str(error))
    return lacks


def sources(params: Config, mirror: str | None) -> tuple[list[Source], list[str]]:
    """Where the downloads of all tasks come from, and what a mirror lacks."""
    found, lacks = [], []
    for name in _used_downloads(params):
        try:
            found.append(
                source(
                    params.catalogue.downloads[name], places.project() / places.DOWNLOADS, mirror
                )
            )
        except DataError as error:
            lacks.append(str(error))
    return found, lacks


def missing_downloads(wanted: Sequence[Source]) -> list[str]:
    """Files that their hosts do not give, or not in the catalogue's size; hosts are only asked."""

    def ask(one: Source) -> str | None:
        if one.url is None:
            return None
        try:
            size = size_at(one.url)
        except DataError as error:
            return f"{error} Connect this machine, or set AIAYN_MIRROR."
        if None not in (size, one.download.bytes) and size != one.download.bytes:
            return (
                f"{one.url}: the host has {size} bytes, the catalogue declares "
                f"{one.download.bytes}. It serves another version: set AIAYN_MIRROR."
            )
        return None

    with ThreadPoolExecutor(ASKED_AT_A_TIME) as pool:
        return [lack for lack in pool.map(ask, wanted) if lack is not None]


def processes(params: Config, device: Device) -> int:
    """How many train at a time: those that the launcher starts, a GPU each."""
    launcher = params.launcher
    if device.device.type != "cuda" or not launcher.gpus:
        return 1
    if launcher.nodes is not None:
        return launcher.gpus * launcher.nodes
    return max(1, min(launcher.gpus, _gpus()))


def missing_processors(params: Config, device: Device, days: float) -> Iterator[str]:
    """GPUs and programs that the parameters count on."""
    gpus = _gpus()
    if device.device.type == "cpu" and params.machine.device != "cpu" and days > 1:
        yield (
            f"no GPU: torch sees none, so this CPU would train all runs, for {days:,.0f} days. "
            "Install a CUDA build of torch on a machine with GPUs."
        )
    command = params.launcher.command
    if command is None:
        return
    program = shlex.split(command)[0]
    if shutil.which(program) is None:
        yield f"launcher.command starts {program!r}, which is not installed. Install it."
    asked = params.launcher.gpus or 0
    if params.launcher.nodes is None and asked > gpus:
        yield (
            f"launcher.gpus is {asked}, and torch sees {gpus} GPUs. "
            "Set it to as many as there are, or compose with launcher=here."
        )


def missing_memory(
    device: Device, largest: str, bytes_a_process: int, processes: int
) -> Iterator[str]:
    """Where the largest model and a micro-batch do not fit."""
    if device.device.type == "cuda":
        there, place, needed = (
            torch.cuda.mem_get_info(device.device)[0], "of the GPU are free", bytes_a_process
        )  # fmt: skip
    else:
        there, place, needed = host_memory(), "this machine has", bytes_a_process * processes
    if needed > there:
        yield (
            f"memory: training {largest} takes {needed / 1e9:,.1f} GB, {place} "
            f"{there / 1e9:,.1f} GB. Raise training.micro_batches, or take a larger machine."
        )


def missing_disk(needed: Mapping[Path, int]) -> Iterator[str]:
    """Where less room is free below a folder than the scale takes there."""
    for folder, bytes_needed in needed.items():
        free = free_bytes(folder)
        if bytes_needed > free:
            yield (
                f"disk: {bytes_needed / 1e9:,.0f} GB are needed below {folder.resolve()}, "
                f"{free / 1e9:,.0f} GB are free. Make room."
            )


def host_memory() -> int:
    """Of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _gpus() -> int:
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _used_downloads(params: Config) -> list[str]:
    names: dict[str, None] = {}
    for text in (task.text for task in params.tasks.values()):
        for corpus in _corpora(text):
            found = params.catalogue.corpora[corpus].downloads((text.source, text.target))
            names |= dict.fromkeys(found)
    return list(names)


def _corpora(text: Text) -> tuple[str, ...]:
    return (*text.train, text.dev, *text.tests.values())
