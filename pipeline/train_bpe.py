"""Learn a task's joint vocabulary. Reads data/text/TASK; writes data/bpe/TASK."""

from __future__ import annotations

import argparse
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.tokens.bpe import train_bpe


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    task = parser.parse_args().task
    spec = config.load().task(task).bpe
    text = Path("data/text", task)
    train_bpe([text / "train.source", text / "train.target"], Path("data/bpe", task), spec)


if __name__ == "__main__":
    main()
