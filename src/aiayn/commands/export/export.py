"""Exporting a run: the engine's files, a check on its test set, and a model card."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import sentencepiece
import torch
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from aiayn import SHIPPED, config, place
from aiayn.commands.export.engine import EngineSearch, engine_alpha
from aiayn.config import Config, Decoding
from aiayn.decoding.weights import load_model, weights_in
from aiayn.errors import CheckpointError, ConfigError
from aiayn.evaluation.metric import score_by_name
from aiayn.evaluation.references import References, read_hypotheses, read_references
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, Translations
from aiayn.files import replaced_folder
from aiayn.model.device import Device
from aiayn.results import metadata, paths, text
from aiayn.results.json_files import if_there
from aiayn.results.scores import Score

ENGINES = {
    "ctranslate2": "ctranslate2",
    "transformers": "transformers",
    "onnx": "onnxruntime",
}
"""The package of each engine; the engine's name is also that of its extra."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The engine's scores for a split and ours; `same` of `sentences` hypotheses are equal."""

    split: str
    sentences: int
    same: int
    ours: Mapping[str, Score]
    theirs: Mapping[str, Score]


def export(run: str, engine: str) -> Compared | None:
    """Write exports/RUN.ENGINE with its model card, atomically.

    The engine gets the weights that decode the run's test set, or dev if it has none, and
    translates this set for comparison, because its search or arithmetic differs from ours. The
    model that comes with the package has no text to compare on.

    Args:
        run: a run of params.yaml, or SHIPPED.
    Raises:
        ConfigError: there is no such run, it does not translate, the engine has no such model, or
            its package is not installed.
        CheckpointError: the run has no weights, or those of another model.
        DataError, ScoreError: its text or translations are missing, damaged, or do not match.
    """
    is_shipped = run == SHIPPED
    name, root = place(run)
    params = config.load(root / config.PARAMS)
    _check(params, name, engine)
    if is_shipped and engine != "onnx":
        raise ConfigError(
            f"{engine} needs an exponent for its length penalty, which is computed from a run's "
            "translations of dev; the package has none. Export it --to onnx."
        )
    writer = importlib.import_module(f"aiayn.commands.export.to_{engine}")
    row, task = params.model_of(name), params.run(name).task
    weights = weights_in(root / paths.model(name), averaged=name in params.tested)
    if not weights.exists():
        raise CheckpointError(
            f"{weights}: there are no weights. Train first: dvc repro average@{name}"
        )
    bpe = root / paths.bpe_model(paths.vocabulary(task))
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=str(bpe))
    test_set = None if is_shipped else _TestSet(params, name)
    search: Decoding | EngineSearch = params.task_of(name).search
    if test_set and engine != "onnx":
        search = test_set.search_of_engines(vocabulary)
    device = Device(torch.device("cpu"), "float32")
    model = load_model(weights, row, vocabulary.get_piece_size(), device)
    with replaced_folder(paths.export(run, engine)) as new:
        writer.write(model, row, bpe, search, new)
        compared = None
        if test_set:
            compared = test_set.compared(lambda lines: writer.translate(new, lines, search))
        card = _card_template().render(
            run=run,
            engine=engine,
            version=importlib.metadata.version(ENGINES[engine]),
            weights=weights.relative_to(root),
            row=row,
            task=params.task_of(name).text,
            decoding=params.task_of(name).search,
            search=search,
            manifest=test_set and test_set.manifest,
            trained=test_set and if_there(metadata.read_train, paths.training_metadata(name)),
            result=compared,
            shipped=paths.card(root).read_text(encoding="utf-8") if is_shipped else None,
        )
        paths.card(new).write_text(card, encoding="utf-8")
    return compared


class _TestSet:
    """The text on which an engine is compared with ours, and the run's hypotheses for it."""

    def __init__(self, params: Config, run: str) -> None:
        self.params, self.run = params, run
        task = params.task_of(run)
        self.split = next(iter(task.text.tests)) if run in params.tested else paths.DEV
        folder, outputs = paths.text(params.run(run).task), paths.outputs(run)
        self.manifest = text.read_manifest(paths.manifest(folder))
        self.references = read_references(folder, self.split)
        self.sources = read_references(folder, self.split, "source").sentences
        self.ours = read_hypotheses(paths.hypotheses(outputs, self.split), self.references)
        self.dev = text.read_lines(paths.hypotheses(outputs, paths.DEV))

    def search_of_engines(self, vocabulary: sentencepiece.SentencePieceProcessor) -> EngineSearch:
        """Beam search with the other engines' length penalty."""
        search = self.params.task_of(self.run).search
        mean_length = fmean(len(pieces) + 1 for pieces in vocabulary.encode(list(self.dev)))
        return EngineSearch(
            beam=search.beam,
            alpha=round(engine_alpha(search.alpha, mean_length), 3),
            longest=self.params.training.max_length + search.extra_length,
        )

    def compared(self, translate: Callable[[Sequence[str]], Sequence[str]]) -> Compared:
        """Compare the hypotheses of an engine, given its translation of non-empty sentences."""
        numbers = [n for n, source in enumerate(self.sources) if source.strip()]
        found = translate([self.sources[n] for n in numbers])
        theirs = [""] * len(self.sources)  # an empty line for an empty sentence, as in ours
        for n, hypothesis in zip(numbers, found, strict=True):
            theirs[n] = " ".join(hypothesis.split("\n"))
        language = self.params.task_of(self.run).text.target
        return Compared(
            split=self.split,
            sentences=len(self.sources),
            same=sum(a == b for a, b in zip(self.ours, theirs, strict=True)),
            ours=_scores(self.ours, self.references, language),
            theirs=_scores(theirs, self.references, language),
        )


def _check(params: Config, run: str, engine: str) -> None:
    """Raises ConfigError if the engine cannot run such a model, or is not installed."""
    row = params.model_of(run)
    if params.task_of(run).kind != "translation":
        raise ConfigError(f"{run} does not translate: only translation runs can be exported.")
    if engine == "transformers" and row.positions != "sinusoid":
        raise ConfigError(
            f"{run} has learned positions, but MarianMT has only sinusoids. Export it --to "
            "ctranslate2."
        )
    if row.extensions:
        named = ", ".join(f"{name} {value}" for name, value in row.extensions.items())
        raise ConfigError(f"{run} has {named}: only models of the paper can be exported.")
    is_narrow = not row.d_k * row.h == row.d_v * row.h == row.d_model
    if is_narrow and engine != "onnx":
        raise ConfigError(
            f"{run} has heads of d_k {row.d_k} and d_v {row.d_v}, which {engine} does not support: "
            f"its heads have d_model / h, here {row.d_model} / {row.h}. Export it --to onnx."
        )
    if importlib.util.find_spec(ENGINES[engine]) is None:
        raise ConfigError(f"{ENGINES[engine]} is not installed: pip install -e '.[{engine}]'")


def _scores(lines: Sequence[str], references: References, language: str) -> dict[str, Score]:
    translations = Translations(lines, references.sentences, language, references.form)
    scored = score_by_name(TRANSLATION_METRICS, translations)
    return {name: score.rounded() for name, score in scored.items()}


def _card_template() -> Template:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # Markdown
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    ).get_template("model_card.md")
