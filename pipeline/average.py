"""Average a run's last checkpoints (section 6.1). Reads models/RUN/checkpoints; writes
models/RUN/averaged.safetensors."""

from __future__ import annotations

import argparse
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.model.checkpoints import AVERAGED, average, checkpoints, save_tensors


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    run = parser.parse_args().run
    config.load_for("average", run)
    folder = Path("models", run)
    tensors, metadata = average(checkpoints(folder / "checkpoints"))
    save_tensors(folder / AVERAGED, tensors, metadata)


if __name__ == "__main__":
    main()
