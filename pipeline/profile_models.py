"""Count parameters and FLOPs of every model here and in the paper's table 3. Reads params.yaml
alone; writes profiles/models.json."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.profiling.models import profile_models


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    models = profile_models(config.load_for("profile_models"))
    write_atomically(Path("profiles/models.json"), json.dumps(models, indent=1) + "\n")


if __name__ == "__main__":
    main()
