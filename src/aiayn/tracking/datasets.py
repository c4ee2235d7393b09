"""What a run read, as MLflow's dataset inputs: one a split, identified by DVC's digest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aiayn.results import places
from aiayn.results.json_files import plain
from aiayn.results.text import Manifest

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

_DIGEST_CHARACTERS = 36  # MLflow's limit; an md5 of DVC with ".dir" just fits
_PROFILE = ("corpora", "pairs", "words", "sha256")
_CONTEXTS = {places.TRAIN: "training", places.DEV: "validation"}


def dataset_inputs(
    task: str, manifest: Manifest | None, dvc_digest: str | None
) -> list[DatasetInput]:
    """The splits of a task as MLflow knows them: name en-de/train, context training.

    Args:
        manifest: of the task's text; None where that is not here.
        dvc_digest: of the text's folder, from dvc.lock. Without one a split's own sha256 stands in,
            cut to MLflow's 36 characters.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = []
    for split, described in manifest.splits.items() if manifest else ():
        digest = dvc_digest or described.sha256["source"]
        facts = plain(described)
        uri = places.lines(places.text(task), split, "source").as_posix()
        dataset = Dataset(
            name=f"{task}/{split}",
            digest=digest[:_DIGEST_CHARACTERS],
            source_type="local",
            source=json.dumps({"uri": uri}),
            profile=json.dumps({key: facts[key] for key in _PROFILE}),
        )
        context = _CONTEXTS.get(split, "test")
        inputs.append(DatasetInput(dataset, [InputTag("mlflow.data.context", context)]))
    return inputs
