"""Measure the layers of table 1. Reads only params.yaml; writes profiles/layers.json, and times and
memory on this machine to run_metadata/profile_layers.json. Formats: layers 1."""

from __future__ import annotations

import argparse
import time

import torch
from tqdm import tqdm

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.launcher import exec_single_under_launcher
from aiayn.model.device import open_device
from aiayn.profiling.layer_types import LAYER_TYPES
from aiayn.profiling.layers import clock_layers, profile_layers
from aiayn.results import metadata, paths
from aiayn.results.machine_metadata import this_machine
from aiayn.results.metadata import ProfilingMetadata
from aiayn.results.profiles import write_layers


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    exec_single_under_launcher()
    params = config.load()
    spec = params.profiling
    begun = time.perf_counter()
    # other stages may run at the same time: use no more threads than they do
    device = open_device(
        params.machine.device, "float32", d_model=spec.clocks.d[0], threads=params.machine.threads
    )
    layers = profile_layers(spec)
    total = len(LAYER_TYPES) * len(spec.clocks.n)
    with tqdm(desc="clock layers", total=total, disable=None) as progress:
        times = clock_layers(spec, device, progress.update)
    record = ProfilingMetadata(
        **vars(this_machine(device.device.type, device.gpu_name, device.instruction_set)),
        seconds=round(time.perf_counter() - begun, 2),
        threads=torch.get_num_threads(),
        d=spec.clocks.d[0],
        layers=times,
    )
    write_layers(paths.LAYERS_PROFILE, layers)
    metadata.write(paths.LAYERS_METADATA, record)


if __name__ == "__main__":
    main()
