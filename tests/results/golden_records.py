"""Each kind of file in a small project written by hand: its path below golden/, the record that it
contains, typed here, and the functions that write and read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from aiayn.config import LayerSizes
from aiayn.errors import AiaynError, CheckpointError, DataError, ProfileError, ScoreError
from aiayn.files import write_atomically
from aiayn.results import (
    checkpoints,
    history,
    illustrations,
    metadata,
    paths,
    profiles,
    scores,
    text,
    tokens,
)

GOLDEN = Path(__file__).parent / "golden"


class Kind(NamedTuple):
    """`free` are the keys in the file that the user names, not the record."""

    path: Path
    record: Any
    write: Callable[[Path, Any], None]
    read: Callable[[Path], Any]
    error: type[AiaynError]
    free: frozenset[str] = frozenset()


def fitted(value: float, error: float) -> profiles.Fitted:
    return profiles.Fitted(value=value, standard_error=error)


def cost(pieces: int, parameters: int, source: int, target: int, pair: int) -> profiles.ModelCost:
    return profiles.ModelCost(
        vocabulary=pieces,
        parameters=parameters,
        forward_flops=profiles.Sides(source=source, target=target),
        training_flops=profiles.Sides(source=3 * source, target=3 * target),
        pair_flops=profiles.PairFlops(forward=pair, training=3 * pair),
    )


LAYERS = profiles.LayersProfile(
    heads=8,
    fixed=LayerSizes(n=100, d=512, k=3, r=64),
    counts={
        "recurrent": profiles.Counts(
            points={
                "n10_d512_k3_r64_h8": profiles.Counted(
                    n=10, d=512, k=3, r=64, h=8, term=10485760, layer=10485760
                )
            },
            exponents={"n": profiles.Exponent(term=fitted(1.0, 0.0), layer=fitted(0.999, 0.002))},
            paper={"n": 1, "d": 2},
        )
    },
    chains={
        "recurrent": profiles.Chain(
            operations={"n4": 15, "n6": 21}, intercept=fitted(3.0, 0.0), slope=fitted(3.0, 0.0)
        )
    },
    paths={
        "convolutional": profiles.Paths(
            points={
                "n32_k3": profiles.PathPoint(n=32, k=3, layers=31),
                "n64": profiles.PathPoint(n=64, layers=63),
            },
            exponents={"n": fitted(1.02, 0.01)},
            paper={"n": 1, "k": -1},
        )
    },
    maps=profiles.Maps(
        k=3, r=4, convolutional={"layers1": ("110", "111", "011"), "layers2": ("111", "111", "111")}
    ),
)

SCORES = scores.RunScores(
    run="parsing.small",
    task="parsing",
    model="small",
    splits={
        "dev": scores.SplitScores.of(
            test_set=scores.TestSet(
                corpora={"trees-dev": text.Part(pairs=100)},
                pairs=100,
                sha256={"source": "aa11", "target": "bb22", "trees": "cc33"},
            ),
            scores={
                "bracket_f1": scores.Score(
                    value=90.0, signature="labels:yes|version:1", low=88.5, high=91.25
                ),
                "exact_match": scores.Score(value=12.34, signature="labels:yes|version:1"),
            },
            counts={"sentences": 99, "repaired": 3, "skipped": 1},
            lengths={"1-10": scores.LengthClass(sentences=40, f1=95.5)},
        )
    },
)

TEXT = text.Manifest(
    task="en-de",
    languages={"source": "en", "target": "de"},
    form="raw",
    cleaning={"empty": True, "max_words": None},
    downloads={"flickr": {"url": "https://example.org/ü.tar.gz", "sha256": "dd44"}},
    splits={
        "train": text.Split(
            corpora={"flickr-train": text.Part(pairs=10, kept=9, dropped={"empty": 1})},
            pairs=9,
            words={"source": 90, "target": 80},
            sha256={"source": "0077", "target": "1188"},
        ),
        "dev": text.Split(
            corpora={"flickr-dev": text.Part(pairs=2)},
            pairs=2,
            words={"source": 7, "target": 8},
            sha256={"source": "ee55", "target": "ff66"},
            overlap={"source": 1, "target": 2, "pairs": 0},
        ),
    },
)

KINDS = {
    "text": Kind(
        paths.manifest(paths.text("en-de")), TEXT, text.write_manifest, text.read_manifest, DataError,
        frozenset({
            "cleaning.empty", "cleaning.max_words", "downloads.flickr", "downloads.flickr.sha256",
            "downloads.flickr.url", "languages.source", "languages.target", "splits.dev",
            "splits.dev.corpora.flickr-dev", "splits.dev.overlap.pairs", "splits.dev.overlap.source",
            "splits.dev.overlap.target", "splits.dev.sha256.source", "splits.dev.sha256.target",
            "splits.dev.words.source", "splits.dev.words.target", "splits.train",
            "splits.train.corpora.flickr-train", "splits.train.corpora.flickr-train.dropped.empty",
            "splits.train.sha256.source", "splits.train.sha256.target", "splits.train.words.source",
            "splits.train.words.target",
        }),
    ),
    "tokens": Kind(
        paths.manifest(paths.tokens("en-de")),
        tokens.TokenManifest(
            vocabulary=4000,
            splits={
                "dev": {
                    "source": tokens.EncodedSide(
                        sentences=500, tokens=7873, longest=33,
                        sha256={"dev.source.npy": "aa11", "dev.source.offsets.npy": "bb22"},
                    )
                }
            },
        ),
        tokens.write, tokens.read, DataError,
        frozenset({
            "splits.dev", "splits.dev.source", "splits.dev.source.sha256.dev.source.npy",
            "splits.dev.source.sha256.dev.source.offsets.npy",
        }),
    ),
    "checkpoints": Kind(
        paths.MODELS / "averaged.json",  # the text in a file of weights
        checkpoints.Weights(
            run="en-de.small", model={
                "N": 3, "P_drop": 0.03, "positions": "sinusoid", "steps": 40, "checkpoint_steps": 20,
                "average": 2,
            }, seed=1,
            max_length=128, step=40, averaged_steps=(20, 40),
        ),
        lambda path, weights: write_atomically(path, checkpoints.content(weights)),
        lambda path: checkpoints.parse(path.read_text(encoding="utf-8"), path),
        CheckpointError,
        frozenset({"model.N", "model.P_drop", "model.positions"}),
    ),
    "scores": Kind(
        paths.scores("parsing.small"), SCORES, scores.write, scores.read, ScoreError,
        frozenset({
            "splits.dev", "splits.dev.bracket_f1", "splits.dev.exact_match",
            "splits.dev.counts.repaired", "splits.dev.counts.sentences", "splits.dev.counts.skipped",
            "splits.dev.lengths.1-10", "splits.dev.set.corpora.trees-dev",
            "splits.dev.set.sha256.source", "splits.dev.set.sha256.target", "splits.dev.set.sha256.trees",
        }),
    ),
    "layers": Kind(
        paths.LAYERS_PROFILE, LAYERS, profiles.write_layers, profiles.read_layers, ProfileError,
        frozenset({
            "counts.recurrent", "counts.recurrent.points.n10_d512_k3_r64_h8",
            "counts.recurrent.exponents.n", "counts.recurrent.paper.d", "counts.recurrent.paper.n",
            "chains.recurrent", "chains.recurrent.operations.n4", "chains.recurrent.operations.n6",
            "paths.convolutional", "paths.convolutional.points.n32_k3",
            "paths.convolutional.points.n64", "paths.convolutional.exponents.n",
            "paths.convolutional.paper.k", "paths.convolutional.paper.n",
            "maps.convolutional", "maps.convolutional.layers1", "maps.convolutional.layers2",
        }),
    ),
    "models": Kind(
        paths.MODELS_PROFILE,
        profiles.ModelsProfile(
            sentence_pieces=30,
            models={"small": {"en-de": cost(4000, 411904, 3, 4, 210)}},
            paper={"base": cost(37000, 63082496, 5, 6, 330)},
        ),
        profiles.write_models, profiles.read_models, ProfileError,
        frozenset({"models.small", "models.small.en-de", "paper.base"}),
    ),
    "attention": Kind(
        paths.attention(paths.ILLUSTRATIONS),
        illustrations.AttentionMaps(
            run="en-de.small", task="en-de", sentence="Hi ü", translation="Ho",
            source=("▁Hi", "▁ü", "</s>"), target=("<s>", "▁Ho"),
            maps={
                "encoder": [[[[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]]],  # type: ignore[dict-item]
                "decoder": [[[[1.0, 0.0], [0.5, 0.5]]]],  # type: ignore[dict-item]
                "cross": [[[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]]],  # type: ignore[dict-item]
            },
        ),
        illustrations.write_attention, illustrations.read_attention, DataError,
    ),
    "training": Kind(
        paths.training_metadata("en-de.small"),
        metadata.TrainingMetadata(
            host="somewhere", device="cpu: 2 x A Processor", python="3.11.7",
            versions={"torch": "2.13.0+cpu", "numpy": "2.4.6"},
            commit="0123456789abcdef0123456789abcdef01234567-dirty", fingerprint="5943",
            seconds=10.59, validation_seconds=1.35, tokens_per_second=4355, starts=2,
            started="2026-11-21T18:49:33+00:00", ended="2026-11-21T18:49:43+00:00", processes=1,
            threads=1, precision="float32", matmul="highest", padding_share=0.048, parameters=411904,
            peak_rss_bytes=480813056, instruction_set="AVX512",
        ),
        metadata.write, metadata.read_train, DataError,
        frozenset({"versions.numpy", "versions.torch"}),
    ),
    "decoding": Kind(
        paths.decoding_metadata("en-de.small"),
        metadata.DecodingMetadata(sentences=1000, seconds=12.5, sentences_per_second=80.0),
        metadata.write, metadata.read_decode, DataError,
    ),
    "profiling": Kind(
        paths.LAYERS_METADATA,
        metadata.ProfilingMetadata(
            host="elsewhere", device="cuda: A GPU", python="3.12.1",
            versions={"torch": "2.11.0+cu130"}, commit="unknown", seconds=31.4, threads=2, d=256,
            layers={
                "self_attention": {
                    "n32": metadata.LayerTimes(
                        n=32, forward_seconds=0.00012, forward_bytes=1048576,
                        training_seconds=0.0005, training_bytes=4194304,
                    )
                }
            },
        ),
        metadata.write, metadata.read_profile, DataError,
        frozenset({"versions.torch", "layers.self_attention", "layers.self_attention.n32"}),
    ),
}  # fmt: skip

CSVS = {
    "history": Kind(
        paths.history("en-de.small"),
        history.History(
            (
                history.Line(step=10, epoch=0.1961, tokens=11501, learning_rate=0.00698771, loss=6.488981),
                history.Line(
                    step=20, epoch=0.3922, tokens=20785, learning_rate=1.5e-05, loss=5.71356,
                    dev_loss=5.293759, dev_perplexity=199.090489,
                ),
            )
        ),
        history.write, history.read, DataError,
    ),
    "illustrations": Kind(
        paths.illustration(paths.ILLUSTRATIONS, "heads"),
        pd.DataFrame(
            [
                {"attention": "encoder", "layer": 1, "head": 1, "distance": 1.25, "entropy": 0.5},
                {"attention": "cross", "layer": 1, "head": 1, "distance": None, "entropy": 2.0},
            ]
        ),
        illustrations.write_table, illustrations.read_table, DataError,
    ),
}  # fmt: skip

OTHERS = {
    "hypotheses": Kind(
        paths.hypotheses(paths.outputs("en-de.small"), "test"),
        ("Ein Satz .", "", "Zwei\u2028Zeilen? Nein."),
        text.write_lines, text.read_lines, DataError,
    ),
}  # fmt: skip

ALL = KINDS | CSVS | OTHERS
