"""Average a run's last checkpoints (section 6.1). Reads models/RUN/checkpoints; writes
models/RUN/averaged.safetensors. Formats: checkpoints 1."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.launcher import hand_over_single
from aiayn.model.checkpoints import average, save_weights
from aiayn.results import places


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    run = parser.parse_args().run
    hand_over_single()
    config.load().run(run)  # or an error that names the nearest
    folder = places.model(run)
    mean, weights = average(places.saved_checkpoints(places.checkpoints(folder)))
    save_weights(places.averaged(folder), mean, weights)


if __name__ == "__main__":
    main()
