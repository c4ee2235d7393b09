"""Turn a task's train and dev text into arrays of piece ids. Reads data/text/TASK and
data/bpe/TASK; writes data/tokens/TASK. Formats: tokens 1."""

from __future__ import annotations

import argparse

from tqdm import tqdm

from aiayn.data.bpe.encoding import encode_task
from aiayn.errors import one_line_errors
from aiayn.results import paths


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    task = parser.parse_args().task
    with tqdm(desc=f"encode {task}", unit="line", disable=None) as progress:
        encode_task(
            paths.text(task),
            paths.bpe_model(paths.vocabulary(task)),
            paths.tokens(task),
            done=progress.update,
        )


if __name__ == "__main__":
    main()
