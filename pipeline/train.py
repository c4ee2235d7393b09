"""Train a run. Reads data/tokens/TASK; writes models/RUN/checkpoints, history/RUN.csv and
run_metadata/RUN.train.json. Resumes from scratch/. Formats: checkpoints 1, history 1."""

from __future__ import annotations

import argparse
from pathlib import Path

from aiayn import config
from aiayn.config.dvc_yaml import code_digest
from aiayn.data.tokens.arrays import TokenArrays
from aiayn.errors import one_line_errors
from aiayn.launcher import device_of, exec_under_launcher, gpus_to_start_on
from aiayn.model.gpus import require_gpus
from aiayn.results import paths
from aiayn.tracking.identity import RunIdentity, run_params
from aiayn.tracking.live import live_run
from aiayn.training.job import Job
from aiayn.training.loop import fit
from aiayn.training.outputs import prepare_folders, write_outputs
from aiayn.training.processes import Processes, open_device_of, process_group
from aiayn.training.run_metadata import training_metadata
from aiayn.training.trainer import Trainer


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--seed", type=int, help="default: the run's own, in params.yaml")
    arguments = parser.parse_args()
    params = config.load()
    machine = params.machine.replace(device=device_of(params.machine.device, params.launcher))
    require_gpus(gpus_to_start_on(machine.device, params.launcher))
    exec_under_launcher(params.launcher)
    run, model = params.run(arguments.run), params.model_of(arguments.run)
    seed = run.seed if arguments.seed is None else arguments.seed
    kind, tokens = params.task(run.task).kind, paths.tokens(run.task)
    processes = Processes.from_environment()
    processes.check_share(params.training.micro_batches)
    device = open_device_of(processes, machine, model.d_model)
    with process_group(processes, device):
        job = Job.of(
            arguments.run, kind, model, params.training, seed, tokens, code_digest("train")
        )
        train, dev = (TokenArrays.open(tokens, split) for split in ("train", "dev"))
        trainer = Trainer(job, train, dev, device, processes)
        scratch = paths.scratch(job.run, trainer.fingerprint)
        identity = RunIdentity(
            scale=params.scale, run=job.run, task=run.task, model=run.model,
            fingerprint=trainer.fingerprint,
        )  # fmt: skip
        prepare_folders(Path(), trainer)
        if not processes.is_first:
            fit(trainer, scratch)
            return
        print(trainer.summary(), flush=True)
        with live_run(identity, {**run_params(params, job.run), "seed": seed}) as live:
            outcome = fit(trainer, scratch, live.log)
        write_outputs(Path(), scratch, outcome, training_metadata(trainer, outcome))


if __name__ == "__main__":
    main()
