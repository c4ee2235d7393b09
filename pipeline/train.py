"""Train a run. Reads data/tokens/TASK; writes models/RUN/checkpoints, history/RUN.csv and
circumstances/RUN.train.json. Killed, it goes on from scratch/ when it is started again."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.model.device import open_device
from aiayn.tokens.arrays import TokenArrays
from aiayn.tracking.live import RunIdentity, open_run
from aiayn.training.circumstances import circumstances
from aiayn.training.job import Job
from aiayn.training.loop import checkpoints, fit
from aiayn.training.processes import join_processes
from aiayn.training.trainer import Trainer


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    run = parser.parse_args().run
    params = config.load()
    tokens = Path("data/tokens", params.run(run).task)
    job = Job.of(params, run, tokens)
    with join_processes(params.training.device) as processes:
        device = open_device(job.training.device, job.training.precision, processes.local_rank)
        fingerprint = job.fingerprint(device)
        scratch = Path("scratch", f"{run}-{fingerprint[:16]}")
        splits = (TokenArrays.open(tokens, split) for split in ("train", "dev"))
        trainer = Trainer(job, *splits, device, processes)
        identity = RunIdentity(params.scale, run, job, fingerprint)
        with open_run(identity, trainer) as live:
            outcome = fit(trainer, scratch, live.log)
        if processes.is_first:
            with replaced_folder(Path("models", run, "checkpoints")) as folder:
                for weights in checkpoints(scratch):
                    shutil.copyfile(weights, folder / weights.name)
            write_atomically(Path("history", f"{run}.csv"), outcome.history_csv())
            report = circumstances(trainer, outcome, fingerprint)
            write_atomically(Path("circumstances", f"{run}.train.json"), report)
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
