"""What determines a training, and its digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from aiayn.config import Kind, Model, Training
from aiayn.errors import DataError
from aiayn.model.device import Device
from aiayn.results import paths
from aiayn.results.checkpoints import Weights


@dataclass(frozen=True)
class Job:
    """A run to train: its model, training parameters, kind of task, tokens, seed and code
    (`config.dvc_yaml.code_digest`)."""

    run: str
    kind: Kind
    model: Model
    training: Training
    seed: int
    tokens_digest: str
    code_digest: str

    @staticmethod
    def of(
        run: str, kind: Kind, model: Model, training: Training, seed: int, tokens: Path, code: str
    ) -> Job:
        """The job whose tokens are in a folder that encode wrote.

        Raises:
            DataError: its manifest is missing.
        """
        manifest = paths.manifest(tokens)
        try:
            digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
        except FileNotFoundError as error:
            raise DataError(f"{manifest}: not there. Make it: dvc repro encode") from error
        return Job(run, kind, model, training, seed, digest, code)

    def fingerprint(self, device: Device, triton: str | None = None) -> str:
        """Digest of everything that determines the weights: parameters, data, code, versions, kind
        of machine and number format.

        Trainings with one fingerprint and the same number of processes end with the same bits.

        Args:
            triton: its version, if it compiles kernels for the device.
        """
        determining = {
            "kind": self.kind,
            "model": self.model.columns,
            "training": self.training.model_dump(),
            "seed": self.seed,
            "tokens": self.tokens_digest,
            "code": self.code_digest,
            "versions": {"torch": torch.__version__, "numpy": np.__version__},
            "device": device.device.type,
            "kernels": device.kernels,
            "precision": device.precision,
            "triton": triton,
            "matmul": torch.get_float32_matmul_precision(),
            # another number of threads sums in another order
            "threads": torch.get_num_threads() if device.device.type == "cpu" else None,
        }
        return hashlib.sha256(json.dumps(determining, sort_keys=True).encode()).hexdigest()

    def weights(self, step: int) -> Weights:
        """Metadata of the model's weights after `step` steps."""
        return Weights(
            run=self.run,
            model=self.model.columns,
            seed=self.seed,
            max_length=self.training.max_length,
            step=step,
        )
