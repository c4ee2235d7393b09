"""Put table 3's rows beside the model they vary. Reads history, outputs and the dev set of
variations.task; writes comparisons/table_3.json. Formats: comparison 2."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.evaluation.variations import compare_variations
from aiayn.results import comparison, paths


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    params = config.load()
    comparison.write(paths.TABLE_3, compare_variations(params.variations, params.runs))


if __name__ == "__main__":
    main()
