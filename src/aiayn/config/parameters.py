"""All of params.yaml as one frozen record. The only default is "absent": values belong in conf/."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from aiayn.config.corpora import Catalogue
from aiayn.config.machine import Launcher, Machine
from aiayn.config.model import Model
from aiayn.config.profiling import Profiling
from aiayn.config.task import Task
from aiayn.config.training import Training
from aiayn.errors import ConfigError
from aiayn.validation import Items, Name, StrictModel, check_reference, invalid, nearest

T = TypeVar("T")


class Run(StrictModel):
    """A `model` trained on a `task` from a `seed`; its name is like `en-de.base`."""

    task: str
    model: str
    seed: Annotated[int, Field(ge=0, lt=1 << 63)]


class DeclaredStatement(StrictModel):
    """The measure by which a statement of the paper is tested, and its numbers of seeds if they
    differ from the comparison's."""

    measure: Literal["bleu", "perplexity"]
    interim_looks: Items[PositiveInt] | None = None


class Preregistration(StrictModel):
    """The design of a confirmatory comparison, declared before its seeds are trained
    (docs/preregistration.md): a file of conf/preregistration.

    field | meaning
    --- | ---
    commit | the commit that declared it
    seeds | the only seeds that count, in the order in which they are added
    weights | the weights whose BLEU is tested: of the last checkpoint, or averaged
    splits | the splits BLEU is measured on, as one set; splits other than dev need averaged weights
    margin_bleu, margin_log_perplexity | the margins of equivalence ("nearly identical")
    statements | the family of tests, by key of aiayn.paper.findings
    """

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$")]
    seeds: Items[int]
    weights: Literal["last", "averaged"]
    splits: Items[str]
    margin_bleu: PositiveFloat
    margin_log_perplexity: PositiveFloat
    statements: Mapping[str, DeclaredStatement]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.weights == "last" and self.splits != ("dev",):
            raise invalid("splits", "must be [dev]: test sets are decoded with averaged weights.")
        if len(set(self.seeds)) < len(self.seeds):
            raise invalid("seeds", "holds a seed twice.")
        return self


class Variations(StrictModel):
    """Table 3: the `task` of its rows, and the `base` model that they are variations of.

    `interim_looks` are the numbers of seeds at which p-values are computed while seeds are added,
    the last one being final; if empty, they are computed once. `preregistration` declares the
    tests; null: they are exploratory (docs/decisions/significance.md).
    """

    task: str
    base: str
    interim_looks: Items[PositiveInt] = ()
    preregistration: Preregistration | None = None

    @property
    def measures(self) -> Mapping[str, Literal["bleu", "perplexity"]] | None:
        """The measure that tests each declared statement; None without a preregistration."""
        if self.preregistration is None:
            return None
        return {key: one.measure for key, one in self.preregistration.statements.items()}

    @model_validator(mode="after")
    def _check_looks(self) -> Self:
        if any(b <= a for a, b in pairwise(self.interim_looks)):
            raise invalid("interim_looks", "must increase: numbers of seeds, the last one final.")
        return self


class Illustrations(StrictModel):
    """The `run` whose attention is drawn, and for which `sentence`; null: the first of its test
    set."""

    run: str
    sentence: str | None


class Config(StrictModel):
    """All of params.yaml.

    section | holds
    --- | ---
    scale | the file of conf/scale that was composed
    catalogue | the sources of text
    tasks, models, runs | a run is a model trained on a task from a seed
    tested | the runs whose checkpoints are averaged and whose test sets are decoded
    variations | which runs are table 3's
    training | the training recipe
    machine | device, precision and threads
    launcher | what starts a training's processes
    profiling | the sizes at which table 1's layers and the models are measured
    illustrations | what is drawn
    """

    scale: Name
    catalogue: Catalogue
    tasks: Mapping[Name, Task]
    models: Mapping[Name, Model]
    runs: Mapping[Name, Run]
    tested: Items[str]
    variations: Variations
    training: Training
    machine: Machine
    launcher: Launcher
    profiling: Profiling
    illustrations: Illustrations

    def task(self, name: str) -> Task:
        """The task of that name. Raises ConfigError with the closest name."""
        return _look_up(self.tasks, name, "task")

    def sources(self, task: str) -> Catalogue:
        """The part of the catalogue that a task's text is made from."""
        text = self.task(task).text
        return self.catalogue.restricted_to(text.corpora, (text.source, text.target))

    def run(self, name: str) -> Run:
        """The run of that name. Raises ConfigError with the closest name."""
        return _look_up(self.runs, name, "run")

    def task_of(self, run: str) -> Task:
        """The task of a run."""
        return self.tasks[self.run(run).task]

    def model_of(self, run: str) -> Model:
        """The model of a run."""
        return self.models[self.run(run).model]

    def splits_of(self, run: str) -> tuple[str, ...]:
        """The splits that a run decodes: dev and, if it is tested, every test set."""
        return self.task_of(run).text.splits if run in self.tested else ("dev",)

    @model_validator(mode="after")
    def _check_corpora(self) -> Self:
        corpora = self.catalogue.corpora
        for name, task in self.tasks.items():
            text, key = task.text, f"tasks.{name}.text"
            for corpus_name in text.corpora:
                check_reference(corpus_name, corpora, key, "corpus")
                corpus = corpora[corpus_name]
                for error in task.errors(corpus_name, corpus):
                    raise invalid(key, error)
                for language in (text.source, text.target) if corpus.sides else ():
                    check_reference(language, corpus.sides or (), key, f"language of {corpus_name}")
                if corpus.sample is not None:
                    noun = f"language of the sample {corpus_name}, by:"
                    check_reference(corpus.sample.by, (text.source, text.target), key, noun)
                for label in corpus.labelled.texts if corpus.labelled else ():
                    noun = f"label of {corpus_name},"
                    check_reference(label, text.labels or (), f"{key}.labels", noun)
        return self

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        for name, run in self.runs.items():
            check_reference(run.task, self.tasks, f"runs.{name}.task", "task")
            check_reference(run.model, self.models, f"runs.{name}.model", "model")
        for name in self.tested:
            check_reference(name, self.runs, "tested", "run")
        for section, names in {"tasks": self.tasks, "models": self.models}.items():
            for name in names:
                if "." in name:
                    problem = "has a dot in its name, with which DVC does not track it."
                    raise invalid(f"{section}.{name}", problem)
        return self

    @model_validator(mode="after")
    def _check_variations(self) -> Self:
        task, base = self.variations.task, self.variations.base
        check_reference(task, self.tasks, "variations.task", "task")
        check_reference(base, self.models, "variations.base", "model")
        if self.tasks[task].decoding is None:
            raise invalid("variations.task", f"is {task}, a classification, which has no BLEU.")
        if not any((run.task, run.model) == (task, base) for run in self.runs.values()):
            raise invalid("variations.base", f"is {base}, but no run of it on {task} is in runs.")
        if declared := self.variations.preregistration:
            for split in declared.splits:
                key = "variations.preregistration.splits"
                check_reference(split, self.tasks[task].text.splits, key, "split")
            if declared.weights == "averaged":
                for name, run in self.runs.items():
                    if run.task == task and name not in self.tested:
                        raise invalid(f"runs.{name}", "has no averaged weights: add it to tested.")
        return self

    @model_validator(mode="after")
    def _check_illustrations(self) -> Self:
        run, sentence = self.illustrations.run, self.illustrations.sentence
        check_reference(run, self.runs, "illustrations.run", "run")
        if self.task_of(run).decoding is None:
            raise invalid(
                "illustrations.run",
                f"is {run}, a classifier; name a run with a decoder, whose attention is drawn too.",
            )
        if run not in self.tested:
            raise invalid("illustrations.run", f"is {run}, which is not in tested: add it there.")
        if sentence is not None and not sentence.strip():
            raise invalid("illustrations.sentence", "is empty.")
        return self


def _look_up(table: Mapping[str, T], name: str, noun: str) -> T:
    if name not in table:
        raise ConfigError(f"params.yaml: there is no {noun} {name!r}.{nearest(name, table)}")
    return table[name]
