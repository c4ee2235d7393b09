"""Turn a task's train and dev text into arrays of piece ids. Reads data/text/TASK and
data/bpe/TASK; writes data/tokens/TASK."""

from __future__ import annotations

import argparse
from pathlib import Path

from tqdm import tqdm

from aiayn.errors import one_line_errors
from aiayn.tokens.encoding import encode_task


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    task = parser.parse_args().task
    with tqdm(desc=f"encode {task}", unit="line", disable=None) as progress:
        encode_task(
            Path("data/text", task),
            Path("data/bpe", task, "model.model"),
            Path("data/tokens", task),
            done=progress.update,
        )


if __name__ == "__main__":
    main()
