"""Compare table 3's rows with the model they vary. Reads history, outputs and the text of
variations.task; writes comparisons: table_3.json, and the counts of sentences that it follows from.
Formats: comparison 3."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.evaluation.sentences import count_sentences
from aiayn.evaluation.variations import compare_variations
from aiayn.results import comparison, paths, sentence_counts


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    params = config.load()
    counts = count_sentences(params.variations, params.runs)
    sentence_counts.write(paths.SENTENCE_COUNTS, counts)
    compared = compare_variations(params.variations, params.runs, counts)
    comparison.write(paths.TABLE_3, compared)


if __name__ == "__main__":
    main()
