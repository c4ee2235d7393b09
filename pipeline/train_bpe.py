"""Learn a task's joint vocabulary. Reads data/text/TASK; writes data/bpe/TASK."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.data.bpe.vocabulary import train_bpe
from aiayn.errors import one_line_errors
from aiayn.results import paths


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    task = parser.parse_args().task
    spec = config.load().task(task).bpe
    sides = [paths.lines(paths.text(task), paths.TRAIN, side) for side in paths.SIDES]
    train_bpe(sides, paths.vocabulary(task), spec)


if __name__ == "__main__":
    main()
