"""Measure the layers of table 1. Reads params.yaml alone; writes profiles/layers.json and
circumstances/profile_layers.json: times and memory on this machine."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from tqdm import tqdm

from aiayn import config
from aiayn.compute.device import open_device
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.profiling.layer_types import LAYER_TYPES
from aiayn.profiling.layers import clock_layers, profile_layers
from aiayn.records.host import this_host


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    params = config.load_for("profile_layers")
    spec = params.profiling
    begun = time.perf_counter()
    device = open_device(params.machine.device, "float32", d_model=spec.clocks.d[0])
    layers = profile_layers(spec)
    total = len(LAYER_TYPES) * len(spec.clocks.n)
    with tqdm(desc="clock layers", total=total, disable=None) as progress:
        times = clock_layers(spec, device, progress.update)
    circumstances = {
        "seconds": round(time.perf_counter() - begun, 2),
        "threads": torch.get_num_threads(),
        "d": spec.clocks.d[0],
        "layers": times,
        **vars(this_host(device.device.type, device.gpu_name)),
    }
    write_atomically(Path("profiles/layers.json"), json.dumps(layers, indent=1) + "\n")
    path = Path("circumstances/profile_layers.json")
    write_atomically(path, json.dumps(circumstances, indent=2) + "\n")


if __name__ == "__main__":
    main()
