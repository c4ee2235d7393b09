"""dvc.lock: which bytes went into a run, and whether the parameters in force are still its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from aiayn.errors import DataError


class Lock:
    """The stages of dvc.lock by name; none where there is no such file.

    Raises:
        DataError: the file is not a dvc.lock.
    """

    def __init__(self, path: Path) -> None:
        try:
            content = yaml.load(path.read_bytes(), yaml.CSafeLoader) or {}
            stages = content.get("stages") or {}
            # an entry that DVC is just writing may end anywhere
            self.stages: Mapping[str, Any] = {
                name: entry for name, entry in stages.items() if isinstance(entry, Mapping)
            }
        except FileNotFoundError:
            self.stages = {}
        except (yaml.YAMLError, AttributeError) as error:
            raise DataError(f"{path}: not a dvc.lock. Restore it with git checkout.") from error

    def of(self, *items: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The stages of runs and tasks, as ("train", entry) of train@RUN, or stages by name."""
        for name, entry in sorted(self.stages.items()):
            stage, _, item = name.partition("@")
            if (item or stage) in items:
                yield stage, entry

    def digests(self, *items: str) -> dict[str, str]:
        """A digest for each stage of `items`: of its command, deps, params and outs.

        The same work done again has the same digest: older locks' run metadata is left out.
        """
        return {
            stage: hashlib.sha256(json.dumps(_work(entry), sort_keys=True).encode()).hexdigest()[
                :32
            ]
            for stage, entry in self.of(*items)
        }

    def out(self, path: str) -> str | None:
        """DVC's digest of the output at `path`."""
        for entry in self.stages.values():
            for out in entry.get("outs") or ():
                if isinstance(out, Mapping) and out.get("path") == path:
                    return str(out["md5"]) if "md5" in out else None
        return None

    def outdated(self, params: Mapping[str, Any], *items: str) -> list[str]:
        """The parameters with which `items` were made and that are others in `params` by now.

        Args:
            params: all of params.yaml, as it stands there.
        """
        return sorted(
            {
                key
                for _, entry in self.of(*items)
                for locked in entry.get("params", {}).values()
                for key, value in locked.items()
                if _plain(_look_up(params, key)) != _plain(value)
            }
        )


def is_code(path: str) -> bool:
    """Whether a dependency is code: a stage's file, a package, or code/STAGE of older locks."""
    first = path.removeprefix("./").replace("../", "").partition("/")[0]
    return first in ("pipeline", "src", "code")


def _work(entry: Mapping[str, Any]) -> dict[str, Any]:
    outs = [out for out in entry.get("outs", ()) if "run_metadata" not in out["path"]]
    return {**entry, "outs": outs}


def _look_up(params: Any, key: str) -> Any:
    """The value at a dotted `key`; a part may itself hold dots, like the name of a run."""
    if not isinstance(params, Mapping):
        return None
    if key in params:
        return params[key]
    for name, value in params.items():
        if key.startswith(f"{name}."):
            return _look_up(value, key.removeprefix(f"{name}."))
    return None


def _plain(value: Any) -> Any:
    """`value`, with numbers as floats: DVC writes 1e-09, which plain YAML 1.1 reads as text."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
