"""Exporting a run: the engine's files, a translation of its test set by them, a model card."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import sentencepiece
import torch
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from aiayn.commands.export.engine import EngineSearch, engine_alpha
from aiayn.config import Config
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


@dataclass(frozen=True, kw_only=True)
class Exported:
    """The folder, and the engine's hypotheses for a split compared with ours: `same` of
    `sentences` are equal."""

    folder: Path
    split: str
    sentences: int
    same: int
    ours: Mapping[str, Score]
    theirs: Mapping[str, Score]


def export(params: Config, run: str, engine: str) -> Exported:
    """Write exports/RUN.ENGINE with its model card: all of it or nothing.

    The engine gets the weights that decode the run's test set, or dev if it has none, and
    translates this set once, because its search differs from ours.

    Raises:
        ConfigError: there is no such run, it does not translate, the engine has no such model, or
            its package is not installed.
        CheckpointError: the run has no weights, or those of another model.
        DataError, ScoreError: its text or translations are missing, damaged, or do not match.
    """
    _check(params, run, engine)
    writer = importlib.import_module(f"aiayn.commands.export.to_{engine}")
    task, row, task_name = params.task_of(run), params.model_of(run), params.run(run).task
    tested = run in params.tested
    split = next(iter(task.text.tests)) if tested else paths.DEV
    weights = weights_in(paths.model(run), averaged=tested)
    if not weights.exists():
        raise CheckpointError(
            f"{weights}: there are no weights. Make them: dvc repro average@{run}"
        )
    text_folder, outputs = paths.text(task_name), paths.outputs(run)
    manifest = text.read_manifest(paths.manifest(text_folder))
    references = read_references(text_folder, split)
    sources = read_references(text_folder, split, "source").sentences
    ours = read_hypotheses(paths.hypotheses(outputs, split), references)
    dev = text.read_lines(paths.hypotheses(outputs, paths.DEV))
    bpe = paths.bpe_model(paths.vocabulary(task_name))
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=str(bpe))
    search = EngineSearch(
        beam=task.search.beam,
        alpha=round(engine_alpha(task.search.alpha, _mean_length(vocabulary, dev)), 3),
        longest=params.training.max_length + task.search.extra_length,
    )
    device = Device(torch.device("cpu"), "float32")
    model = load_model(weights, row, vocabulary.get_piece_size(), device)
    folder = paths.export(run, engine)
    with replaced_folder(folder) as new:
        writer.write(model, row, bpe, search, new)
        numbers = [n for n, source in enumerate(sources) if source.strip()]
        found = writer.translate(new, [sources[n] for n in numbers], search)
        theirs = [""] * len(sources)  # an empty line for an empty sentence, as in ours
        for n, hypothesis in zip(numbers, found, strict=True):
            theirs[n] = " ".join(hypothesis.split("\n"))
        exported = Exported(
            folder=folder,
            split=split,
            sentences=len(sources),
            same=sum(a == b for a, b in zip(ours, theirs, strict=True)),
            ours=_scores(ours, references, task.text.target),
            theirs=_scores(theirs, references, task.text.target),
        )
        card = _card_template().render(
            run=run,
            engine=engine,
            version=importlib.metadata.version(engine),
            weights=weights,
            manifest=manifest,
            licences=dict.fromkeys(str(d["licence"]) for d in manifest.downloads.values()),
            trained=if_there(metadata.read_train, paths.training_metadata(run)),
            decoding=task.search,
            search=search,
            result=exported,
        )
        paths.card(new).write_text(card, encoding="utf-8")
    return exported


def _check(params: Config, run: str, engine: str) -> None:
    """Raises ConfigError if the engine cannot run such a model, or is not installed."""
    row = params.model_of(run)
    if params.task_of(run).kind != "translation":
        raise ConfigError(f"{run} does not translate: only translation runs can be exported.")
    if engine == "transformers" and row.positions != "sinusoid":
        raise ConfigError(
            f"{run} has learned positions, MarianMT has sinusoids only. Export it --to ctranslate2."
        )
    if row.neighbourhood is not None:
        raise ConfigError(
            f"{run} attends within a neighbourhood of {row.neighbourhood} positions: no other "
            "engine does, so it cannot be exported."
        )
    if not row.d_k * row.h == row.d_v * row.h == row.d_model:
        raise ConfigError(
            f"{run} has heads of d_k {row.d_k} and d_v {row.d_v}, which other engines cannot run: "
            f"theirs have d_model / h, here {row.d_model} / {row.h}."
        )
    if importlib.util.find_spec(engine) is None:
        raise ConfigError(f"{engine} is not installed: pip install -e '.[{engine}]'")


def _mean_length(
    vocabulary: sentencepiece.SentencePieceProcessor, sentences: Sequence[str]
) -> float:
    """In pieces, the end symbol included."""
    return fmean(len(pieces) + 1 for pieces in vocabulary.encode(list(sentences)))


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
