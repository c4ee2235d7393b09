"""Where a finished training writes its outputs."""

from __future__ import annotations

import shutil
from pathlib import Path

from aiayn.files import replaced_folder, write_atomically
from aiayn.results import history, metadata, paths
from aiayn.results.metadata import TrainingMetadata
from aiayn.results.scratch import delete_recorded, finished
from aiayn.training.loop import Outcome
from aiayn.training.trainer import Trainer


def prepare_folders(root: Path, trainer: Trainer) -> None:
    """Delete the scratch folders of trainings that dvc.lock has recorded, and create the folders
    that `write_outputs` will write to: better to fail now than after training. The first process
    does it and the others wait, so that all see the same.

    Raises:
        OSError: one cannot be deleted or created.
    """
    if trainer.processes.is_first:
        delete_recorded(root, trainer.job.run)
        for folder in (paths.model(trainer.job.run), paths.HISTORIES, paths.METADATA):
            (root / folder).mkdir(parents=True, exist_ok=True)
    trainer.processes.wait_for_all()


def write_outputs(
    root: Path, scratch: Path, outcome: Outcome, run_metadata: TrainingMetadata
) -> None:
    """Write models/RUN/checkpoints, history/RUN.csv and run_metadata/RUN.train.json below `root`.

    All of it stays in `scratch` too, until dvc.lock records it: for a training that had already
    ended, the same bytes are written again, its metadata included.
    """
    run = outcome.run
    (root / paths.history(run)).unlink(missing_ok=True)
    if not finished(scratch).exists():
        metadata.write(finished(scratch), run_metadata)
    with replaced_folder(paths.checkpoints(root / paths.model(run))) as folder:
        for weights in paths.saved_checkpoints(scratch):
            shutil.copyfile(weights, folder / weights.name)
    write_atomically(root / paths.training_metadata(run), finished(scratch).read_bytes())
    # last: by it a training that begins meanwhile knows that all is written
    history.write(root / paths.history(run), outcome.curve)
