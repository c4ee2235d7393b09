"""The graph as DVC sees it: what follows what, what has changed, and the record of what ran.

DVC's own `repro` runs one stage after the other. Its steps before and after a stage's command are
taken apart here, so that several commands can run at a time: the stages, their hashes, the run
cache, the locks on files and dvc.lock are DVC's, and a plain `dvc repro` afterwards finds nothing
to do.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dpath
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro
from dvc.rwlock import rwlock
from dvc.stage import Stage
from dvc.stage.cache import RunCacheNotFoundError
from dvc.stage.exceptions import StageNotFound
from dvc.stage.serialize import to_lockfile
from dvc.utils.serialize import LOADERS, dumps_yaml, load_yaml

from aiayn.errors import GraphError
from aiayn.files import write_atomically
from aiayn.results import places
from aiayn.validation import nearest

# beside stages that run it would draw bars of its own for every file that it copies
for _name in ("dvc", "dvc_data", "dvc_objects"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

_parsed: dict[tuple[int, int, int, int], Any] = {}


def _load_once(path: str, **options: Any) -> Any:
    """A YAML file as DVC loads it, parsed again only if it has changed: for every stage DVC asks
    for params.yaml once more, and changes nothing in what it gets.
    """
    found = Path(path).stat()  # another file where it was replaced, as make params does
    key = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
    if key not in _parsed:
        _parsed[key] = load_yaml(path, **options)
    return _parsed[key]


LOADERS[".yaml"] = _load_once

_search = dpath.get


def _get(parameters: Any, key: str, separator: str = "/", **options: Any) -> Any:
    """As dpath, which goes through all that there is for each parameter of each stage that DVC asks
    it for: a key without a wildcard says itself where to look."""
    found = parameters
    for name in key.split(separator):
        if not isinstance(found, Mapping) or name not in found:
            return _search(parameters, key, separator, **options)
        found = found[name]
    return found


dpath.get = _get  # type: ignore[assignment]


class Graph:
    """The stages that some targets need, by name, and DVC's steps around a stage's command.

    Of the project in the current folder.

    Args:
        targets: stages, as for `dvc repro`; without any, all.
    Raises:
        GraphError: dvc.yaml or params.yaml cannot be read, or there is no such target.
    """

    def __init__(self, targets: Sequence[str] = ()) -> None:
        self._held: dict[str, ExitStack] = {}
        self._unwritten: list[Stage] = []
        with _graph_errors():
            # other DVC commands may look at the project meanwhile: wait until they are done
            self._repo = Repo(_wait_for_lock=True)
            with self._repo.lock:
                graph = get_active_graph(self._repo.index.graph)
                chosen = self._chosen(targets) if targets else None
                stages = plan_repro(graph, chosen)
        self._stages = {stage.addressing: stage for stage in stages}
        self.upstream: dict[str, frozenset[str]] = {
            name: frozenset(needed.addressing for needed in graph.successors(stage))
            for name, stage in self._stages.items()
        }

    def command(self, name: str) -> str:
        """A stage's command, for a shell."""
        command: str | list[str] = self._stages[name].cmd
        return command if isinstance(command, str) else " && ".join(command)

    def environment(self, name: str) -> dict[str, str]:
        """What DVC tells a stage's command."""
        return {"DVC_ROOT": str(self._repo.root_dir), "DVC_STAGE": name}

    def is_changed(self, name: str) -> bool:
        """Whether a stage is to run; what it reads must be complete.

        Raises:
            GraphError: something that it reads is missing.
        """
        stage = self._stages[name]
        with self._working():
            return not stage.frozen and stage.changed()

    def begin(self, name: str) -> bool:
        """Get ready for a stage's command; False: its outputs came from DVC's cache instead.

        The former outputs are gone, and until `end` or `abandon` no other DVC process may write
        them or what the stage reads.

        Raises:
            GraphError: something that it reads is missing, or another process writes it.
        """
        stage = self._stages[name]
        with self._working():
            stage.remove_outs(ignore_remove=False, force=False)
            try:
                self._repo.stage_cache.restore(stage)
            except RunCacheNotFoundError:
                stage.save_deps()
                self._hold(stage)
                return True
            self._save(stage)
            return False

    def end(self, name: str) -> None:
        """After a stage's command: its outputs go into DVC's cache.

        Raises:
            GraphError: it did not make what it should.
        """
        try:
            with self._working():
                self._save(self._stages[name])
        finally:
            self.abandon(name)

    def abandon(self, name: str) -> None:
        """A stage's command failed or was stopped: others may have its files again."""
        with self._repo.lock:
            self._held.pop(name, ExitStack()).close()

    def write_lock(self) -> None:
        """Bring dvc.lock up to date. If it never comes to that, DVC's run cache knows as much."""
        if not self._unwritten:
            return
        path = places.LOCK
        with self._working():
            locked: dict[str, Any] = load_yaml(path) if path.exists() else {}
            locked.setdefault("schema", "2.0")
            stages = locked.setdefault("stages", {})
            for stage in self._unwritten:
                stages.update(to_lockfile(stage))
            _say_once(stages)
            write_atomically(path, dumps_yaml(locked))
        self._unwritten.clear()

    def close(self) -> None:
        """Write dvc.lock and let go of everything."""
        for name in [*self._held]:
            self.abandon(name)
        self.write_lock()
        self._repo.close()

    def _chosen(self, targets: Sequence[str]) -> list[Stage]:
        try:
            found: list[Stage] = collect_stages(self._repo, targets)
        except StageNotFound as error:
            names = [stage.addressing for stage in self._repo.index.stages]
            if "@" not in error.name:  # all stages of that name
                names = [name.partition("@")[0] for name in names]
            near = nearest(error.name, dict.fromkeys(names))
            raise GraphError(f"dvc.yaml: there is no stage {error.name!r}.{near}") from error
        return found

    def _save(self, stage: Stage) -> None:
        # DVC keeps what it does not cache, like a report, out of its run cache
        stage.save(run_cache=all(o.use_cache or o.is_metric or o.is_plot for o in stage.outs))
        stage.commit()
        self._unwritten.append(stage)

    def _hold(self, stage: Stage) -> None:
        held = self._held[stage.addressing] = ExitStack()
        held.enter_context(
            rwlock(
                self._repo.tmp_dir,
                self._repo.fs,
                " ".join(sys.argv),
                [dep.fs_path for dep in stage.deps],
                [out.fs_path for out in stage.outs],
                self._repo.config["core"].get("hardlink_lock", False),
            )
        )

    @contextmanager
    def _working(self) -> Iterator[None]:
        with _graph_errors(), self._repo.lock:
            yield


def _say_once(stages: Mapping[str, Any]) -> None:
    """Make equal parameters of dvc.lock's stages one object, which YAML spells out once and then
    refers to. DVC does the same with what it happens to hold once; all of it is a quarter of the
    lines, and of the time to write them.
    """
    seen: dict[str, Any] = {}

    def only(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        parts = {name: only(part) for name, part in value.items()}
        # a reference in place of one line would save none
        return seen.setdefault(repr(parts), parts) if len(parts) > 1 else parts

    for entry in stages.values():
        if "params" in entry:
            entry["params"] = {file: only(values) for file, values in entry["params"].items()}


@contextmanager
def _graph_errors() -> Iterator[None]:
    """DVC's complaints, and the system's in DVC's work, as ours, in one line."""
    try:
        yield
    except DvcException as error:
        raise GraphError(" ".join(str(error).split())) from error
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        raise GraphError(
            f"DVC's files: {error.strerror or error}{place}. Make room, or correct permissions."
        ) from error
