"""Average a run's last checkpoints (section 6.1). Reads models/RUN/checkpoints; writes
models/RUN/averaged.safetensors. Formats: checkpoints 1."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.launcher import exec_single_under_launcher
from aiayn.model.checkpoints import average, save_weights
from aiayn.results import paths


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    run = parser.parse_args().run
    exec_single_under_launcher()
    config.load().run(run)  # raises an error for an unknown run
    folder = paths.model(run)
    mean, weights = average(paths.saved_checkpoints(paths.checkpoints(folder)))
    save_weights(paths.averaged(folder), mean, weights)


if __name__ == "__main__":
    main()
