"""dvc.lock: the digests of a run's inputs and outputs, and which of its parameters have changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from aiayn.errors import DataError

# the text of a stage's entry, and its name; a YAML library would write 1e-09 as text
ENTRY = re.compile(r"^  (\S.*):\n(?:(?:    .*)?\n)+", re.MULTILINE)
_DIGEST = re.compile(r"[0-9a-f]{32}(\.dir)?")


class Entry:
    """A stage in dvc.lock: its command, DVC's digests of its `deps` and `outs` by path, and its
    parameters by key, as they were when it ran. A digest is None if DVC has not written it."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record
        self.command: str | None = record.get("cmd")
        self.deps = _digests(record.get("deps"))
        self.outs = _digests(record.get("outs"))
        self.params: Mapping[str, Any] = {
            key: value
            for file in (record.get("params") or {}).values()
            for key, value in (file or {}).items()
        }

    @property
    def is_complete(self) -> bool:
        """Whether the entry has everything that DVC writes."""
        deps, outs = (self.record.get(name, []) for name in ("deps", "outs"))
        return (
            self.command is not None
            and isinstance(deps, list)
            and isinstance(outs, list)
            and (len(self.deps), len(self.outs)) == (len(deps), len(outs))
            and all(
                isinstance(out.get("size"), int) and _DIGEST.fullmatch(str(out.get("md5")))
                for out in outs
            )
        )

    def digest(self) -> str:
        """Over the command, deps, params and outs.

        The run metadata in older locks is left out, so that repeated work has the same digest.
        """
        outs = [out for out in self.record.get("outs") or () if "run_metadata" not in str(out)]
        work = json.dumps({**self.record, "outs": outs}, sort_keys=True)
        return hashlib.sha256(work.encode()).hexdigest()[:32]


class Lock:
    """The stages of dvc.lock by name; none if the file does not exist.

    Raises:
        DataError: the file is not a dvc.lock.
    """

    def __init__(self, path: Path) -> None:
        try:
            content = yaml.load(path.read_bytes(), yaml.CSafeLoader) or {}
            stages = content.get("stages") or {}
            # skip an entry that DVC is still writing
            self.stages: Mapping[str, Entry] = {
                name: Entry(entry) for name, entry in stages.items() if isinstance(entry, Mapping)
            }
        except FileNotFoundError:
            self.stages = {}
        except (yaml.YAMLError, AttributeError) as error:
            raise DataError(f"{path}: not a dvc.lock. Restore it with git checkout.") from error

    def of(self, *items: str) -> Iterator[tuple[str, Entry]]:
        """The entries of the given runs, tasks or stages, as (stage, entry): ("train", entry) for
        train@RUN."""
        for name, entry in sorted(self.stages.items()):
            stage, _, item = name.partition("@")
            if (item or stage) in items:
                yield stage, entry

    def digests(self, *items: str) -> dict[str, str]:
        """The digest of each stage of `items`."""
        return {stage: entry.digest() for stage, entry in self.of(*items)}

    def out(self, path: str) -> str | None:
        """DVC's digest of the output at `path`."""
        return next((one.outs[path] for one in self.stages.values() if path in one.outs), None)

    def outdated(self, params: Mapping[str, Any], *items: str) -> list[str]:
        """The parameters that have changed in `params` since `items` were run.

        Args:
            params: the content of params.yaml, as plain data.
        """
        return sorted(
            {
                key
                for _, entry in self.of(*items)
                for key, value in entry.params.items()
                if _plain(_look_up(params, key)) != _plain(value)
            }
        )


def is_code(path: str) -> bool:
    """Whether a dependency is code: a stage's file, a package, or code/STAGE in older locks."""
    first = path.removeprefix("./").replace("../", "").partition("/")[0]
    return first in ("pipeline", "src", "code")


def _digests(paths: Any) -> dict[str, str | None]:
    """By path; what DVC is still writing is left out."""
    return {
        each["path"]: each.get("md5")
        for each in paths or ()
        if isinstance(each, Mapping) and isinstance(each.get("path"), str)
    }


def _look_up(params: Any, key: str) -> Any:
    """The value at a dotted `key`, whose parts may contain dots themselves, like a run's name."""
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
