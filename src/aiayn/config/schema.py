"""What params.yaml holds, as frozen dataclasses. No default but "absent": values live in conf/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from aiayn.errors import ConfigError
from aiayn.typed import nearest

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
    """Trees: those of `files` in a downloaded zip or tar archive, or in a folder of the user's.

    `folder` names an environment variable that holds the folder's path, so that no path of a
    machine stands in the parameters. `files` are glob patterns; files are read in order of name.
    `division` is a download too: a file's number a line, leading zeros apart; of an archive, these
    files alone are read, in this order.
    """

    download: str | None = None
    folder: str | None = None
    files: tuple[str, ...]
    division: str | None = None


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

    `threads` are those of a process on a CPU; null leaves them to torch. Another number of threads
    adds up in another order, so it is a part of what decides the weights.

    A global batch holds about `batch_tokens` source and as many target tokens, cut into
    `micro_batches`, whatever the number of processes.
    """

    launcher: str
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    threads: int | None
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


def _lookup(table: Mapping[str, T], name: str, noun: str) -> T:
    if name not in table:
        raise ConfigError(f"params.yaml: there is no {noun} {name!r}.{nearest(name, table)}")
    return table[name]
