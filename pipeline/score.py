"""Score one run's translations. Reads outputs/RUN and data/text/TASK; writes scores/RUN.json and,
for `dvc metrics show`, metrics/RUN.json: the values alone."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.scoring.bleu import score_split
from aiayn.scoring.references import read_hypotheses, read_references


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    name = parser.parse_args().run
    parameters = config.load()
    run = parameters.run(name)
    spec = parameters.task(run.task).text
    splits, metrics = {}, {}
    for split in spec.splits:
        references = read_references(Path("data/text") / run.task, split)
        hypotheses = read_hypotheses(Path("outputs") / name / f"{split}.hypotheses", references)
        scores = score_split(hypotheses, references.sentences, spec.target)
        entries = {measure: score.to_json() for measure, score in scores.items()}
        splits[split] = {"set": references.identity} | entries
        metrics[split] = {measure: entry["value"] for measure, entry in entries.items()}
    report = {"run": name, "task": run.task, "model": run.model, "splits": splits}
    for folder, content in (("scores", report), ("metrics", metrics)):
        text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        write_atomically(Path(folder) / f"{name}.json", text)


if __name__ == "__main__":
    main()
