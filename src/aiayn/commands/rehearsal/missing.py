"""What a scale needs and this machine does not have, each in a line that says what to do."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from aiayn.config import Config, Task
from aiayn.data.corpora.fetching import Source, source
from aiayn.data.corpora.transfer import size_at
from aiayn.data.corpora.treebanks import treebank_trees
from aiayn.errors import DataError
from aiayn.files import free_bytes
from aiayn.results import paths

REQUESTS = 8  # at a time


def missing_treebanks(params: Config) -> list[str]:
    """Folders of licensed trees that are not named, or have no readable tree."""
    missing = []
    for name in dict.fromkeys(name for task in params.tasks.values() for name in _corpora(task)):
        treebank = params.catalogue.corpora[name].treebank
        if treebank is not None and treebank.folder is not None:
            try:
                next(treebank_trees(name, treebank, {}), None)
            except DataError as error:
                missing.append(str(error))
    return missing


def sources(params: Config, mirror: str | None) -> tuple[list[Source], list[str]]:
    """Where the downloads of all tasks come from, and those that a mirror does not have."""
    found, missing = [], []
    for name in _downloads(params):
        try:
            found.append(
                source(params.catalogue.downloads[name], paths.project() / paths.DOWNLOADS, mirror)
            )
        except DataError as error:
            missing.append(str(error))
    return found, missing


def missing_downloads(found: Sequence[Source]) -> list[str]:
    """Files that a host does not have, or not in the catalogue's size. Nothing is downloaded."""

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
                f"{one.download.bytes}. It serves another version: set AIAYN_MIRROR."
            )
        return None

    with ThreadPoolExecutor(REQUESTS) as pool:
        return [message for message in pool.map(check, found) if message is not None]


def missing_processors(params: Config) -> Iterator[str]:
    """GPUs and programs that the parameters require."""
    gpus, cluster = visible_gpus(), params.launcher.nodes is not None
    if params.machine.device == "cuda" and not gpus and not cluster:
        yield (
            "no GPU: machine.device is cuda, and torch sees none. Use a machine with GPUs, and a "
            f"CUDA build of torch that its driver can run (this one: {_cuda_build()})."
        )
    command = params.launcher.command
    if command is None:
        return
    program = shlex.split(command)[0]
    if shutil.which(program) is None:
        yield f"launcher.command starts {program!r}, which is not installed. Install it."
    asked = params.launcher.gpus or 0
    if gpus and not cluster and asked > gpus:
        yield (
            f"launcher.gpus is {asked}, and torch sees {gpus} GPUs. "
            f"Give it GPUS={gpus}, or compose with LAUNCHER=here."
        )


def missing_memory(largest: str, process_bytes: int, processes: int) -> Iterator[str]:
    """If the largest model and a micro-batch do not fit, on a GPU or together in the memory."""
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
    """Folders on whose disk less is free than the scale needs."""
    for folder, bytes_needed in needed.items():
        free = free_bytes(folder)
        if bytes_needed > free:
            yield (
                f"disk: {folder.resolve()} needs {bytes_needed / 1e9:,.0f} GB, "
                f"{free / 1e9:,.0f} GB are free. Free some space."
            )


def host_memory() -> int:
    """In bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def visible_gpus() -> int:
    """Those of this machine that torch can use."""
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _cuda_build() -> str:
    return f"{torch.__version__}, CUDA {torch.version.cuda}" if torch.version.cuda else "for CPUs"


def _downloads(params: Config) -> list[str]:
    names = (
        name
        for task in params.tasks.values()
        for corpus in _corpora(task)
        for name in params.catalogue.corpora[corpus].downloads((task.text.source, task.text.target))
    )
    return list(dict.fromkeys(names))


def _corpora(task: Task) -> tuple[str, ...]:
    return (*task.text.train, task.text.dev, *task.text.tests.values())
