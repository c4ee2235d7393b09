"""Count parameters and FLOPs of every model in params.yaml and in the paper's table 3. Reads only
params.yaml; writes profiles/models.json. Formats: models 1."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.profiling.models import profile_models
from aiayn.results import paths
from aiayn.results.profiles import write_models


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    params = config.load()
    models = profile_models(
        params.models,
        params.tasks,
        params.runs.values(),
        params.profiling.sentence_pieces,
        params.training.max_length,
    )
    write_models(paths.MODELS_PROFILE, models)


if __name__ == "__main__":
    main()
