"""What a run read, as MLflow's dataset inputs: one a split, identified by DVC's digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

_DIGEST_CHARACTERS = 36  # MLflow's limit; an md5 of DVC with ".dir" just fits
_PROFILE = ("corpora", "pairs", "words", "sha256")
_CONTEXTS = {"train": "training", "dev": "validation"}


def dataset_inputs(
    task: str, manifest: Mapping[str, Any], dvc_digest: str | None
) -> list[DatasetInput]:
    """The splits of a task as MLflow knows them: name en-de/train, context training.

    Args:
        manifest: data/text/TASK/manifest.json.
        dvc_digest: of data/text/TASK, from dvc.lock. Without one a split's own sha256 stands in,
            cut to MLflow's 36 characters.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = []
    for split, facts in manifest.get("splits", {}).items():
        digest = dvc_digest or str(facts.get("sha256", {}).get("source", "unknown"))
        dataset = Dataset(
            name=f"{task}/{split}",
            digest=digest[:_DIGEST_CHARACTERS],
            source_type="local",
            source=json.dumps({"uri": f"data/text/{task}/{split}.source"}),
            profile=json.dumps({key: facts[key] for key in _PROFILE if key in facts}),
        )
        context = _CONTEXTS.get(split, "test")
        inputs.append(DatasetInput(dataset, [InputTag("mlflow.data.context", context)]))
    return inputs
