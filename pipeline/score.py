"""Score one run's outputs by every metric of its kind of task. Reads outputs/RUN, data/text/TASK
and history/RUN.csv; writes scores/RUN.json and, for `dvc metrics show`, the main metrics to
metrics/RUN.json. Formats: scores 2."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.evaluation.metrics import headline
from aiayn.evaluation.scoring import score_task_split
from aiayn.results import history, paths
from aiayn.results.scores import RunScores, write, write_metrics


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    name = parser.parse_args().run
    params = config.load()
    run = params.run(name)
    task, text = params.task(run.task), paths.text(run.task)
    splits = {
        split: score_task_split(task.kind, task.text, split, text, paths.outputs(name))
        for split in params.splits_of(name)
    }
    curve = paths.history(name)
    perplexity = history.last_perplexity(history.read(curve), curve)
    scores = RunScores(run=name, task=run.task, model=run.model, splits=splits)
    write(paths.scores(name), scores)
    metric = headline(task.kind, splits[paths.DEV].scores)
    write_metrics(paths.metrics(name), scores, metric, perplexity)


if __name__ == "__main__":
    main()
