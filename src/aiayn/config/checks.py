"""Rules across parameters; every complaint names the dotted key."""

from __future__ import annotations

from collections.abc import Iterable

from aiayn.config.schema import Catalogue, Config, Model, Profiling, Task, Training, Treebank
from aiayn.errors import ConfigError
from aiayn.typed import nearest


def check(config: Config) -> None:
    """Raises ConfigError where two parameters contradict each other, or one makes no sense."""
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
    if treebank.division is not None:
        _known(treebank.division, catalogue.downloads, f"{key}.division", "download")
        _require(treebank.download is not None, f"{key}.division", "needs a download to divide")
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
    _positive("training.threads", training.threads)
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
