"""Eight steps in the processes that torchrun starts, on `cpu` or `cuda`; the first process prints the losses
and a digest of the weights."""

from __future__ import annotations

import hashlib
import json
import sys

from tests.gpu.small import SMALL, losses, trainer

from aiayn.config import Machine
from aiayn.training.processes import Processes, open_device_of, process_group

ROW, MICRO_BATCHES, STEPS = SMALL.replace(P_drop=0.1), 4, 8


def main(device_name: str) -> None:
    processes = Processes.from_environment()
    machine = Machine.model_validate({"device": device_name, "precision": "float32", "threads": 1})
    device = open_device_of(processes, machine, ROW.d_model)
    with process_group(processes, device):
        training = trainer(device, ROW, processes, micro_batches=MICRO_BATCHES)
        processes.agree(training.fingerprint)
        found = losses(training, STEPS)
        weights = training.flat.values.detach().cpu().numpy().tobytes()
        if processes.is_first:
            print(json.dumps({"losses": found, "weights": hashlib.sha256(weights).hexdigest()}))


if __name__ == "__main__":
    main(sys.argv[1])
