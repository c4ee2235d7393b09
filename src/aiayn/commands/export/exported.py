"""A run exported, tried on sentences that it has translated here, and described by a model card."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from statistics import fmean

import sentencepiece
import torch

from aiayn.commands.export.card import card
from aiayn.commands.export.heads import of_usual_width
from aiayn.commands.export.search import EngineSearch, engine_alpha
from aiayn.commands.export.trial import Exported, Trial
from aiayn.config import Config
from aiayn.decoding.weights import load_model, weights_in
from aiayn.errors import CheckpointError, ConfigError
from aiayn.evaluation.metric import score_by_name
from aiayn.evaluation.references import read_hypotheses, read_references
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, Translations
from aiayn.files import replaced_folder
from aiayn.model.device import Device
from aiayn.results import circumstances, places, text
from aiayn.results.json_files import if_there


def export(params: Config, run: str, engine: str) -> Exported:
    """Write exports/RUN.ENGINE, its card included: all of it or nothing.

    The engine gets the weights that decode the run's test set, or where it has none, its dev set;
    this set is translated by it once, to see what its other search costs.

    Raises:
        ConfigError: the run is not there or does not translate, the engine's package is not
            installed, or the engine has no such model.
        CheckpointError: the run has no weights, or they are not its model's.
        DataError, ScoreError: its text or translations are missing, damaged, or not of each other.
    """
    _refuse_others(params, run, engine)
    task, row, name = params.task_of(run), params.model_of(run), params.run(run).task
    tested = run in params.tested
    split = next(iter(task.text.tests)) if tested else places.DEV
    weights = weights_in(places.model(run), averaged=tested)
    if not weights.exists():
        raise CheckpointError(
            f"{weights}: there are no weights. Make them: dvc repro average@{run}"
        )
    folder_of_text, outputs = places.text(name), places.outputs(run)
    manifest = text.read_manifest(places.manifest(folder_of_text))
    references = read_references(folder_of_text, split)
    ours = read_hypotheses(places.hypotheses(outputs, split), references)
    ours_on_dev = text.read_lines(places.hypotheses(outputs, places.DEV))
    sources = read_references(folder_of_text, split, "source").sentences
    bpe = places.bpe_model(places.vocabulary(name))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(bpe))
    pieces = [processor.id_to_piece(n) for n in range(processor.get_piece_size())]
    device = Device(torch.device("cpu"), "float32")
    model = load_model(weights, row, len(pieces), device)
    model, row = of_usual_width(model, row, params.training.max_length)
    length = fmean(len(line) + 1 for line in processor.encode(list(ours_on_dev)))
    search = EngineSearch(
        beam=task.search.beam,
        alpha=round(engine_alpha(task.search.alpha, length), 3),
        longest=params.training.max_length + task.search.extra_length,
    )
    folder = places.export(run, engine)
    with replaced_folder(folder) as new:
        if engine == "ctranslate2":
            from aiayn.commands.export import to_ctranslate2

            to_ctranslate2.write(model, row, pieces, new)
            places.bpe_model(new).write_bytes(bpe.read_bytes())

            def translate(lines: Sequence[str]) -> list[str]:
                encoded = processor.encode(list(lines), out_type=str)
                return [processor.decode(p) for p in to_ctranslate2.translate(new, encoded, search)]
        else:
            from aiayn.commands.export import to_transformers

            to_transformers.write(model, row, pieces, bpe, search, new)

            def translate(lines: Sequence[str]) -> list[str]:
                return to_transformers.translate(new, lines)

        theirs = _translated(sources, translate)
        scored = [
            score_by_name(
                TRANSLATION_METRICS,
                Translations(lines, references.sentences, task.text.target, references.form),
            )
            for lines in (ours, theirs)
        ]
        exported = Exported(
            run=run,
            engine=engine,
            version=importlib.metadata.version(engine),
            folder=folder,
            manifest=manifest,
            weights=str(weights),
            trained=if_there(circumstances.read_train, places.train_circumstances(run)),
            decoding=task.search,
            search=search,
            trial=Trial(
                split=split,
                sentences=len(sources),
                same=sum(a == b for a, b in zip(ours, theirs, strict=True)),
                ours={key: score.rounded() for key, score in scored[0].items()},
                theirs={key: score.rounded() for key, score in scored[1].items()},
            ),
        )
        places.card(new).write_text(card(exported), encoding="utf-8")
    return exported


def _refuse_others(params: Config, run: str, engine: str) -> None:
    """Raises ConfigError where the engine cannot do what the run does, or is not installed."""
    task, row = params.task_of(run), params.model_of(run)
    if task.kind != "translation":
        raise ConfigError(f"{run} does not translate: translation runs alone can be exported.")
    if engine == "transformers" and row.positions != "sinusoid":
        raise ConfigError(
            f"{run} learned its positions, which MarianMT has not. Export it --to ctranslate2."
        )
    if row.neighbourhood is not None:
        raise ConfigError(
            f"{run} attends within a neighbourhood of {row.neighbourhood} positions: no other "
            "engine does, so it cannot be exported."
        )
    if importlib.util.find_spec(engine) is None:
        raise ConfigError(f"{engine} is not installed: pip install -e '.[{engine}]'")


def _translated(
    sources: Sequence[str], translate: Callable[[Sequence[str]], list[str]]
) -> list[str]:
    """A hypothesis a line, as ours are: an empty one for an empty sentence, none with a newline."""
    words = [n for n, source in enumerate(sources) if source.strip()]
    outputs = [""] * len(sources)
    for n, output in zip(words, translate([sources[n] for n in words]), strict=True):
        outputs[n] = " ".join(output.split("\n"))
    return outputs
