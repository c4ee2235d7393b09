"""Requirements of a scale that this machine does not meet, as lines that say what to do."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from aiayn.commands.repro.dvc_commands import environment
from aiayn.config import Config, Download
from aiayn.data.corpora.fetching import Source, source
from aiayn.data.corpora.transfer import size_at
from aiayn.data.corpora.treebanks import treebank_trees
from aiayn.errors import DataError
from aiayn.files import free_bytes
from aiayn.model.gpus import visible_gpus
from aiayn.results import paths

REQUESTS = 8  # at a time


def missing_treebanks(params: Config) -> list[str]:
    """Folders of licensed trees that are not configured, or have no readable tree."""
    missing = []
    for name in dict.fromkeys(name for task in params.tasks.values() for name in task.text.corpora):
        treebank = params.catalogue.corpora[name].treebank
        if treebank is not None and treebank.folder is not None:
            try:
                next(treebank_trees(name, treebank, {}), None)
            except DataError as error:
                missing.append(str(error))
    return missing


def sources(params: Config, mirror: str | None) -> tuple[list[Source], list[str]]:
    """The sources of all tasks' downloads, and a message for each that the mirror lacks."""
    found, missing = [], []
    downloads: dict[str, Download] = {}
    for task in params.tasks:
        downloads |= params.sources(task).downloads
    for download in downloads.values():
        try:
            found.append(source(download, paths.project() / paths.DOWNLOADS, mirror))
        except DataError as error:
            missing.append(str(error))
    return found, missing


def missing_downloads(found: Sequence[Source]) -> list[str]:
    """Files that are missing on their host or have another size than in the catalogue. Nothing is
    downloaded."""

    def check(one: Source) -> str | None:
        if one.url is None:
            return None
        try:
            size = size_at(one.url)
        except DataError as error:
            return f"{error} Connect this machine, or set AIAYN_MIRROR."
        if None not in (size, one.download.bytes) and size != one.download.bytes:
            return (
                f"{one.url}: the host has {size} bytes, the catalogue declares "
                f"{one.download.bytes}. It is another version: set AIAYN_MIRROR."
            )
        return None

    with ThreadPoolExecutor(REQUESTS) as pool:
        return [message for message in pool.map(check, found) if message is not None]


def missing_processors(params: Config) -> Iterator[str]:
    """GPUs and programs that the parameters require."""
    gpus, cluster = visible_gpus(), params.launcher.nodes is not None
    if params.machine.device == "cuda" and not gpus and not cluster:
        yield (
            "no GPU: machine.device is cuda, but torch sees none. Use a machine with GPUs, and a "
            f"CUDA build of torch that its driver can run (this one: {_cuda_build()})."
        )
    command = params.launcher.command
    if command is None:
        return
    program = shlex.split(command)[0]
    if "{" not in program and shutil.which(program, path=environment()["PATH"]) is None:
        yield f"launcher.command starts {program!r}, which is not installed. Install it."
    requested = params.launcher.gpus or 0
    if gpus and not cluster and requested > gpus:
        yield (
            f"launcher.gpus is {requested}, but torch sees {gpus} GPUs. "
            f"Set GPUS={gpus} or LAUNCHER=here."
        )


def missing_memory(largest: str, process_bytes: int, processes: int) -> Iterator[str]:
    """A line if the largest model and a micro-batch do not fit into a GPU, or on a CPU, if those of
    all processes do not fit into memory."""
    if visible_gpus():
        available, where, needed = torch.cuda.mem_get_info(0)[0], "the GPU has free", process_bytes
    else:
        available, where = host_memory(), "this machine has"
        needed = process_bytes * processes
    if needed > available:
        yield (
            f"memory: training {largest} needs {needed / 1e9:,.1f} GB, {where} "
            f"{available / 1e9:,.1f} GB. Raise training.micro_batches, or use a larger machine."
        )


def missing_disk(needed: Mapping[Path, int]) -> Iterator[str]:
    """A line for each folder whose disk has less free space than the scale needs."""
    for folder, bytes_needed in needed.items():
        free = free_bytes(folder)
        if bytes_needed > free:
            yield (
                f"disk: {folder.resolve()} needs {bytes_needed / 1e9:,.0f} GB, but only "
                f"{free / 1e9:,.0f} GB are free. Free some space."
            )


def host_memory() -> int:
    """Memory of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _cuda_build() -> str:
    return f"{torch.__version__}, CUDA {torch.version.cuda}" if torch.version.cuda else "for CPUs"
