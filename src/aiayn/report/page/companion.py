"""What may differ between two identical runs: when, where, how fast, and from which code."""

from __future__ import annotations

import hashlib
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aiayn.report.evidence import Evidence
from aiayn.report.parts.section import Figure
from aiayn.report.parts.tables import Table
from aiayn.report.parts.training_cost import estimates
from aiayn.report.table_1.layer_figures import wall_time
from aiayn.results import host, places
from aiayn.results.circumstances import facts, read_decode, read_profile, read_train
from aiayn.results.json_files import if_there


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """All that reports/circumstances.html shows, and nothing of it the rest of the report.

    `rendering` are facts about the report itself; `runs` go by run, stage and dotted name.
    `wall_time` is there once the stage profile_layers has run.
    """

    scale: str
    rendering: Mapping[str, str]
    runs: Mapping[str, Mapping[str, Mapping[str, str]]]
    estimates: Table
    wall_time: Figure | None


def circumstances(evidence: Evidence) -> Circumstances:
    """Those of every run in params.yaml, and of the report that is being written.

    Raises:
        DataError: a file is there but is not what it should be.
    """
    root, runs = evidence.root, evidence.config.runs
    trained = {run: if_there(read_train, root / places.train_circumstances(run)) for run in runs}
    decoded = {run: if_there(read_decode, root / places.decode_circumstances(run)) for run in runs}
    layers = if_there(read_profile, root / places.LAYERS_CIRCUMSTANCES)
    return Circumstances(
        scale=evidence.config.scale,
        rendering=rendering(root),
        runs={
            run: {
                stage: facts(found) if found else {}
                for stage, found in (("train", trained[run]), ("decode", decoded[run]))
            }
            for run in runs
        },
        estimates=estimates(evidence.paper, trained),
        wall_time=wall_time(layers) if layers else None,
    )


def rendering(root: Path) -> Mapping[str, str]:
    """Facts about the report that is being written, by name."""
    return {
        "rendered": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(root),
        "dvc.lock before this stage, sha256": digest(root / places.LOCK),
        "machine": f"{socket.gethostname()}, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
    }


def commit(root: Path) -> str:
    """The commit of `root`, and whether tracked files differ from it."""
    described = host.commit(root)
    if described == host.UNKNOWN_COMMIT:
        return "unknown: not a git repository"
    name, _, dirty = described.partition("-")
    return f"{name} ({'with uncommitted changes' if dirty else 'clean'})"


def digest(path: Path) -> str:
    """sha256 of a file in hexadecimal, or a remark that it is not there."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return "not there"
