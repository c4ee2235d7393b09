"""All of params.yaml as one frozen dataclass. No default but "absent": values live in conf/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from aiayn.config.corpora import Catalogue
from aiayn.config.machine import Launcher, Machine
from aiayn.config.model import Model
from aiayn.config.profiling import Profiling
from aiayn.config.rules import known, named, positive, require
from aiayn.config.task import Task
from aiayn.config.training import Training
from aiayn.errors import ConfigError
from aiayn.typed import nearest

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A `task` learned by a `model` from a `seed`; named like `en-de.base`."""

    task: str
    model: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Variations:
    """Table 3: which `task` its rows learn, and which model they are variations of: the `base`.

    `looks` is how often the p-values are looked at in all while seeds are added, the last time
    included; null is once. They are corrected for it (docs/decisions/significance.md).
    """

    task: str
    base: str
    looks: int | None = None


@dataclass(frozen=True, kw_only=True)
class Illustrations:
    """Which `run`'s attention is drawn, over which `sentence`; null is the first of the run's test
    set."""

    run: str
    sentence: str | None


@dataclass(frozen=True, kw_only=True)
class Config:
    """All of params.yaml.

    section | holds
    --- | ---
    scale | the file of conf/scale that was composed
    catalogue | where text can come from
    tasks, models, runs | what is learned, by what; a run is a task and a model
    tested | the runs whose checkpoints are averaged and whose test sets are decoded
    variations | which runs are table 3's
    training | the recipe
    machine | what it is computed on
    launcher | what starts a training's processes
    profiling | where table 1's layers and the models are measured
    illustrations | what is drawn
    """

    scale: str
    catalogue: Catalogue
    tasks: Mapping[str, Task]
    models: Mapping[str, Model]
    runs: Mapping[str, Run]
    tested: tuple[str, ...]
    variations: Variations
    training: Training
    machine: Machine
    launcher: Launcher
    profiling: Profiling
    illustrations: Illustrations

    def task(self, name: str) -> Task:
        """The task of that name. Raises ConfigError with the nearest name."""
        return _lookup(self.tasks, name, "task")

    def run(self, name: str) -> Run:
        """The run of that name. Raises ConfigError with the nearest name."""
        return _lookup(self.runs, name, "run")

    def task_of(self, run: str) -> Task:
        """The task that a run learns."""
        return self.tasks[self.run(run).task]

    def model_of(self, run: str) -> Model:
        """The model that a run trains."""
        return self.models[self.run(run).model]

    def splits_of(self, run: str) -> tuple[str, ...]:
        """The splits that a run decodes: dev and, if it is tested, every test set."""
        return self.task_of(run).text.splits if run in self.tested else ("dev",)

    def check(self) -> None:
        """Raises ConfigError where two parameters contradict each other, or one makes no sense."""
        named(self.scale, "scale")
        for section in ("tasks", "models", "runs"):
            for name in getattr(self, section):
                named(name, section)
        self.catalogue.check()
        for name, task in self.tasks.items():
            task.check(f"tasks.{name}", self.catalogue)
        for name, model in self.models.items():
            model.check(f"models.{name}")
        for name, run in self.runs.items():
            known(run.task, self.tasks, f"runs.{name}.task", "task")
            known(run.model, self.models, f"runs.{name}.model", "model")
            require(0 <= run.seed < 1 << 63, f"runs.{name}.seed", "must be from 0 to 2^63 - 1")
        for name in self.tested:
            known(name, self.runs, "tested", "run")
        known(self.variations.task, self.tasks, "variations.task", "task")
        known(self.variations.base, self.models, "variations.base", "model")
        positive("variations.looks", self.variations.looks)
        self.training.check()
        self.machine.check()
        self.launcher.check()
        self.profiling.check()
        known(self.illustrations.run, self.runs, "illustrations.run", "run")
        require(
            self.task_of(self.illustrations.run).decoding is not None,
            "illustrations.run",
            f"is {self.illustrations.run}, which writes no sentence: a decoder is drawn too",
        )
        sentence = self.illustrations.sentence
        require(sentence is None or bool(sentence.strip()), "illustrations.sentence", "is empty")


def _lookup(table: Mapping[str, T], name: str, noun: str) -> T:
    if name not in table:
        raise ConfigError(f"params.yaml: there is no {noun} {name!r}.{nearest(name, table)}")
    return table[name]
