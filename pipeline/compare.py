"""Put table 3's rows beside the model they vary. Reads history, outputs and the dev set of
variations.task; writes comparisons/table_3.json."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.scoring.variations import compare_variations


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = compare_variations(config.load_for("compare"))
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    write_atomically(Path("comparisons/table_3.json"), text)


if __name__ == "__main__":
    main()
