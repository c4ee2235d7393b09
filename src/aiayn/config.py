"""The parameters in force, typed and frozen; read from params.yaml and validated once, at the door.

Values live in conf/ alone: nothing here has a default other than "absent". Every complaint names
the key, the file and, where one is near, the name that was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import yaml

from aiayn.errors import ConfigError
from aiayn.typed import build, nearest

PARAMS = Path("params.yaml")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file to fetch. `checksum` is "sha256:..." or, where only that is published, "md5:..."."""

    url: str
    checksum: str
    licence: str
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Side:
    """One language of a corpus: a download, or a member of the archive that was downloaded."""

    download: str
    member: str | None = None


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """Sentences made by the project's own grammar; splits never share a sentence."""

    split: Literal["train", "dev", "test"]
    sentences: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Treebank:
    """Bracketed trees: those of `files` in a downloaded zip archive, or in a folder of the user's.

    `folder` names an environment variable that holds the folder's path, so that no path of a
    machine stands in the parameters. `files` are glob patterns; files are read in order of name.
    """

    download: str | None = None
    folder: str | None = None
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Parallel text: `sides` by language from downloads, or a `grammar` that makes every side; or
    the trees of a `treebank`. `pairs` tells how many there must be."""

    sides: Mapping[str, Side] | None = None
    grammar: Grammar | None = None
    treebank: Treebank | None = None
    pairs: int | None = None


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Where text can come from."""

    downloads: Mapping[str, Download]
    corpora: Mapping[str, Corpus]


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """Rules by which training pairs are dropped, in this order; null or false switches one off."""

    invalid_utf8: bool
    empty: bool
    max_words: int | None
    max_ratio: float | None
    identical: bool
    duplicates: bool


@dataclass(frozen=True, kw_only=True)
class Text:
    """Which corpora make a task. `tests` holds "test" and any further test sets by name.

    `leaves` makes it a parsing task (section 6.3): its corpora hold trees, the source is a tree's
    words, the target its brackets with every word as its part of speech ("tags") or as one and
    the same symbol ("dummy").
    """

    leaves: Literal["tags", "dummy"] | None = None
    source: str
    target: str
    train: tuple[str, ...]
    dev: str
    tests: Mapping[str, str]
    cleaning: Cleaning

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are decoded and scored: dev, and every test set."""
        return ("dev", *self.tests)


@dataclass(frozen=True, kw_only=True)
class Bpe:
    """The joint source-and-target vocabulary (section 5.1).

    With `symbols: target`, each word of the target is one piece: brackets and labels of trees.
    """

    symbols: Literal["target"] | None = None
    vocabulary: int
    normalization: Literal["identity", "nmt_nfkc"]


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Beam search (section 6.1): output of at most input + `extra_length` pieces."""

    beam: int
    alpha: float
    extra_length: int


@dataclass(frozen=True, kw_only=True)
class Task:
    """Sentence in, sentence out: two languages, a vocabulary, a way to search and a metric."""

    text: Text
    bpe: Bpe
    decoding: Decoding
    metric: Literal["bleu", "bracket_f1"]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A row of table 3, column for column.

    `d_k` and `d_v` are d_model / h where the row leaves them out. `average` is the number of last
    checkpoints that are averaged (section 6.1: 5 for base, 20 for big).
    """

    N: int
    d_model: int
    d_ff: int
    h: int
    d_k: int | None = None
    d_v: int | None = None
    P_drop: float
    eps_ls: float
    steps: int
    positions: Literal["sinusoid", "learned"]
    average: int

    @property
    def key_width(self) -> int:
        """d_k, spelled out or implied."""
        return self.d_k if self.d_k is not None else self.d_model // self.h

    @property
    def value_width(self) -> int:
        """d_v, spelled out or implied."""
        return self.d_v if self.d_v is not None else self.d_model // self.h


@dataclass(frozen=True, kw_only=True)
class Run:
    """A task learned by a model from a seed; named like `en-de.base`."""

    task: str
    model: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Variations:
    """Table 3: which task its rows learn, and which model they are variations of."""

    task: str
    base: str


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Section 5.3."""

    beta1: float
    beta2: float
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class Training:
    """How every model is trained (section 5). Quantities are in optimiser steps and tokens.

    A global batch holds about `batch_tokens` source and as many target tokens, cut into
    `micro_batches`, whatever the number of processes.
    """

    launcher: str
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    batch_tokens: int
    micro_batches: int
    max_length: int
    warmup_steps: int
    learning_rate_scale: float
    adam: Adam
    checkpoint_steps: int
    validation_steps: int
    log_steps: int


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """n positions, width d, kernel k, neighbourhood r: the letters of table 1."""

    n: int
    d: int
    k: int
    r: int


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Values of the same four sizes."""

    n: tuple[int, ...]
    d: tuple[int, ...]
    k: tuple[int, ...]
    r: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class PaperModels:
    """Table 3's rows as the paper has them, and the paper's vocabulary."""

    vocabulary: int
    models: Mapping[str, Model]


@dataclass(frozen=True, kw_only=True)
class Profiling:
    """Where table 1's layers and the models are measured.

    FLOPs are counted over `counts`, one size at a time with the others `fixed`; chains of
    operations, path lengths and times over grids of their own. `heads` is h of all attention
    layers, `sentence_pieces` the length of both sides at which a model's FLOPs are counted.
    """

    heads: int
    counts: Grid
    fixed: LayerSizes
    chains: Grid
    paths: Grid
    clocks: Grid
    sentence_pieces: int
    paper: PaperModels


@dataclass(frozen=True, kw_only=True)
class Illustrations:
    """Whose attention is drawn, over which sentence; null is the first of the run's test set."""

    run: str
    sentence: str | None


@dataclass(frozen=True, kw_only=True)
class Config:
    """All of params.yaml."""

    scale: str
    catalogue: Catalogue
    tasks: Mapping[str, Task]
    models: Mapping[str, Model]
    runs: Mapping[str, Run]
    tested: tuple[str, ...]
    variations: Variations
    training: Training
    profiling: Profiling
    illustrations: Illustrations

    def task(self, name: str) -> Task:
        """The task of that name. Raises ConfigError with the nearest name."""
        return _lookup(self.tasks, name, "task")

    def run(self, name: str) -> Run:
        """The run of that name. Raises ConfigError with the nearest name."""
        return _lookup(self.runs, name, "run")

    def model_of(self, run: str) -> Model:
        """The model that a run trains."""
        return self.models[self.run(run).model]

    def splits_of(self, run: str) -> tuple[str, ...]:
        """The splits that a run decodes: dev and, if it is tested, every test set."""
        text = self.task(self.run(run).task).text
        return text.splits if run in self.tested else ("dev",)


def load(path: Path = PARAMS) -> Config:
    """Read and validate `path`.

    Raises:
        ConfigError: the file is missing or is not YAML, a key is unknown, missing or of the wrong
            type, or two parameters contradict each other.
    """
    try:
        data = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}. Run from the project's folder, or compose it: make params."
        ) from error
    except yaml.YAMLError as error:
        complaint = " ".join(str(error).split()).replace('in "<byte string>", ', "")
        raise ConfigError(f"{path}: not YAML: {complaint}.") from error
    try:
        config: Config = build(Config, data, "")
        _check(config)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    return config


def _check(config: Config) -> None:
    """Rules across fields."""
    for name, corpus in config.catalogue.corpora.items():
        key = f"catalogue.corpora.{name}"
        kinds = (corpus.sides, corpus.grammar, corpus.treebank)
        _require(
            sum(kind is not None for kind in kinds) == 1,
            key,
            "needs sides, a grammar or a treebank",
        )
        for language, side in (corpus.sides or {}).items():
            _known(side.download, config.catalogue.downloads, f"{key}.sides.{language}", "download")
        if corpus.treebank is not None:
            _check_treebank(f"{key}.treebank", corpus.treebank, config.catalogue)
    for name, download in config.catalogue.downloads.items():
        _require(
            download.checksum.partition(":")[0] in ("sha256", "md5"),
            f"catalogue.downloads.{name}.checksum",
            f"is {download.checksum!r}; write sha256:... or md5:...",
        )
    for name, task in config.tasks.items():
        _check_task(name, task, config.catalogue)
    for name, model in config.models.items():
        _check_model(f"models.{name}", model)
    for name, run in config.runs.items():
        _known(run.task, config.tasks, f"runs.{name}.task", "task")
        _known(run.model, config.models, f"runs.{name}.model", "model")
        _require(run.seed >= 0, f"runs.{name}.seed", "must not be negative")
    for name in config.tested:
        _known(name, config.runs, "tested", "run")
    _known(config.variations.task, config.tasks, "variations.task", "task")
    _known(config.variations.base, config.models, "variations.base", "model")
    _check_training(config.training)
    _check_profiling(config.profiling)
    _known(config.illustrations.run, config.runs, "illustrations.run", "run")
    sentence = config.illustrations.sentence
    _require(sentence is None or bool(sentence.strip()), "illustrations.sentence", "is empty")


def _check_treebank(key: str, treebank: Treebank, catalogue: Catalogue) -> None:
    _require(
        (treebank.download is None) != (treebank.folder is None), key, "needs download or folder"
    )
    if treebank.download is not None:
        _known(treebank.download, catalogue.downloads, key, "download")
    _require(bool(treebank.files), f"{key}.files", "is empty")


def _check_task(name: str, task: Task, catalogue: Catalogue) -> None:
    key = f"tasks.{name}"
    text = task.text
    parses = text.leaves is not None
    _require(
        parses == (task.metric == "bracket_f1"), key, "needs text.leaves for bracket_f1, else not"
    )
    _require(not parses or task.bpe.symbols == "target", f"{key}.bpe.symbols", "must be target")
    _require("test" in text.tests, f"{key}.text.tests", "needs a set named test")
    for reserved in ("train", "dev"):
        _require(reserved not in text.tests, f"{key}.text.tests.{reserved}", "is a reserved name")
    for corpus in (*text.train, text.dev, *text.tests.values()):
        _known(corpus, catalogue.corpora, f"{key}.text", "corpus")
        sides, treebank = catalogue.corpora[corpus].sides, catalogue.corpora[corpus].treebank
        _require(sides is None or not parses, f"{key}.text", f"needs trees; {corpus} has none")
        _require(treebank is None or parses, f"{key}.text.leaves", f"is needed to read {corpus}")
        for language in (text.source, text.target):
            if sides is not None:
                _known(language, sides, f"{key}.text", f"language of {corpus}")
    _positive(f"{key}.text.cleaning.max_words", text.cleaning.max_words)
    _positive(f"{key}.text.cleaning.max_ratio", text.cleaning.max_ratio)
    _positive(f"{key}.bpe.vocabulary", task.bpe.vocabulary)
    _positive(f"{key}.decoding.beam", task.decoding.beam)
    _positive(f"{key}.decoding.extra_length", task.decoding.extra_length)
    _require(task.decoding.alpha >= 0, f"{key}.decoding.alpha", "must not be negative")


def _check_model(key: str, model: Model) -> None:
    for field in ("N", "d_model", "d_ff", "h", "d_k", "d_v", "steps", "average"):
        _positive(f"{key}.{field}", getattr(model, field))
    for field in ("P_drop", "eps_ls"):
        _require(0 <= getattr(model, field) < 1, f"{key}.{field}", "must be at least 0 and below 1")
    _require(model.d_model % 2 == 0, f"{key}.d_model", "must be even: a sine and a cosine each")
    if (model.d_k is None or model.d_v is None) and model.d_model % model.h:
        divisors = [h for h in range(1, 65) if model.d_model % h == 0]
        near = sorted(sorted(divisors, key=lambda h: abs(h - model.h))[:5])
        raise ConfigError(
            f"{key}.h is {model.h}, which does not divide d_model {model.d_model}. "
            f"Use {', '.join(map(str, near))}, or give d_k and d_v."
        )


def _check_training(training: Training) -> None:
    for name in (
        "batch_tokens", "micro_batches", "max_length", "warmup_steps", "learning_rate_scale",
        "checkpoint_steps", "validation_steps", "log_steps",
    ):  # fmt: skip
        _positive(f"training.{name}", getattr(training, name))
    _require(bool(training.launcher.split()), "training.launcher", "is empty; write python")
    _require(
        training.batch_tokens // training.micro_batches >= training.max_length,
        "training.batch_tokens",
        f"gives micro-batches of {training.batch_tokens // training.micro_batches} tokens, too "
        f"small for one sentence of max_length {training.max_length}; raise it, or use fewer "
        "micro_batches",
    )


def _check_profiling(profiling: Profiling) -> None:
    for name in ("heads", "sentence_pieces"):
        _positive(f"profiling.{name}", getattr(profiling, name))
    _positive("profiling.paper.vocabulary", profiling.paper.vocabulary)
    for size, value in vars(profiling.fixed).items():
        _positive(f"profiling.fixed.{size}", value)
    fitted = {("counts", size) for size in "ndkr"} | {("paths", size) for size in "nkr"}
    fitted |= {("chains", "n")}
    for name in ("counts", "chains", "paths", "clocks"):
        for size, values in vars(getattr(profiling, name)).items():
            key = f"profiling.{name}.{size}"
            is_fitted = (name, size) in fitted
            _require(len(set(values)) >= (4 if is_fitted else 1), key, "has too few values to fit")
            _require(min(values) > 1, key, "must be above 1")
            _require(size != "k" or all(k % 2 for k in values), key, "must be odd, to be centred")
            _require(
                size != "d" or all(d % profiling.heads == 0 for d in values),
                key,
                f"must be multiples of profiling.heads, {profiling.heads}",
            )
    _require(
        profiling.fixed.d % profiling.heads == 0,
        "profiling.fixed.d",
        "must be a multiple of profiling.heads",
    )
    _require(profiling.fixed.k % 2 == 1, "profiling.fixed.k", "must be odd, to be centred")
    for name, model in profiling.paper.models.items():
        _check_model(f"profiling.paper.models.{name}", model)


def _require(holds: bool, key: str, complaint: str) -> None:
    if not holds:
        raise ConfigError(f"{key} {complaint}.")


def _positive(key: str, value: float | None) -> None:
    _require(value is None or value > 0, key, f"is {value}; it must be above 0")


def _known(name: str, names: Iterable[str], key: str, noun: str) -> None:
    if name not in names:
        raise ConfigError(
            f"{key} names the {noun} {name!r}, which does not exist.{nearest(name, names)}"
        )


def _lookup(table: Mapping[str, T], name: str, noun: str) -> T:
    if name not in table:
        raise ConfigError(f"{PARAMS}: there is no {noun} {name!r}.{nearest(name, table)}")
    return table[name]
