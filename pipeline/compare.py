"""Compare table 3's rows with their base model. Reads history, outputs and the text of
variations.task; writes comparisons/: table_3.json, and the sentence counts it is computed from.
Formats: comparison 3."""

from __future__ import annotations

import argparse
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.evaluation.sentences import count_sentences
from aiayn.evaluation.variations import compare_variations, further_scores
from aiayn.results import comparison, failures, paths, sentence_counts


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--failures", type=Path, metavar="FILE", help="leave out what is unfinished"
    )
    unfinished = failures.read(parser.parse_args().failures)
    params = config.load()
    runs = {name: run for name, run in params.runs.items() if name not in unfinished}
    counts = count_sentences(params.variations, runs)
    sentence_counts.write(paths.SENTENCE_COUNTS, counts)
    further = further_scores(params.variations, runs)
    comparison.write(paths.TABLE_3, compare_variations(params.variations, runs, counts, further))


if __name__ == "__main__":
    main()
