"""Parameters and FLOPs of whole models: counted by fvcore and torch, and in closed form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import torch

from aiayn.config import Model, Run, Task
from aiayn.errors import ProfileError
from aiayn.model.classifier import Classifier
from aiayn.model.neighbourhood import computed_scores
from aiayn.model.transformer import Transformer
from aiayn.paper import PAPER, model_of
from aiayn.profiling.counting import count_with_fvcore, count_with_torch
from aiayn.results.profiles import ModelCost, ModelsProfile, PairFlops, Sides

# the gradients of a product's inputs and of its weights each cost as much as the product
TRAINING_TO_FORWARD = 3


@dataclass(frozen=True)
class ForwardFlops:
    """Forward FLOPs of a pair of S source and T target pieces: the coefficients of S, T, S^2, T^2
    and S T.

    S: the encoder's projections and feed-forward networks, and the keys and values of every decoder
    layer. T: the decoder's, and the logits. S^2, T^2 and S T: the attention scores, masked ones
    included; with a `neighbourhood`, the scores in its blocks replace the squares.
    """

    source: int
    target: int
    source_squared: int
    target_squared: int
    source_target: int
    neighbourhood: int | None = None

    @classmethod
    def of(cls, model: Model, vocabulary: int, labels: int = 0) -> ForwardFlops:
        """Sections 3.2 to 3.4 in closed form; a multiply-add is two FLOPs.

        With `labels`, of a classifier: the encoder and its output layer; the target is one piece.
        """
        per_head = model.h * (model.d_k + model.d_v)
        feed_forward = 2 * model.d_model * model.d_ff
        scores = 2 * model.N * per_head
        # one attention projects with q, k, v and o: d_model h (2 d_k + 2 d_v) multiply-adds
        half = model.d_model * per_head
        if labels:
            encoder, output = 2 * model.N * (2 * half + feed_forward), 2 * model.d_model * labels
            return cls(encoder, output, scores, 0, 0, model.neighbourhood)
        return cls(
            source=2 * model.N * (2 * half + feed_forward + half),
            target=2 * model.N * (2 * half + half + feed_forward) + 2 * model.d_model * vocabulary,
            source_squared=scores,
            target_squared=scores,
            source_target=scores,
            neighbourhood=model.neighbourhood,
        )

    def pair(self, source: int, target: int) -> int:
        """FLOPs of a pair, from its numbers of source and target pieces."""
        return (
            self.source * source
            + self.target * target
            + self.source_squared * self._squared(source)
            + self.target_squared * self._squared(target)
            + self.source_target * source * target
        )

    def per_piece(self, length: int) -> Sides:
        """FLOPs per source and per target piece of a pair of `length` pieces each; with a
        neighbourhood, rounded down."""
        own = self._squared(length)
        return Sides(
            source=self.source + self.source_squared * own // length,
            target=self.target + self.target_squared * own // length + self.source_target * length,
        )

    def _squared(self, length: int) -> int:
        """The number of scores that self-attention computes over `length` positions."""
        if self.neighbourhood is None:
            return length**2
        return computed_scores(length, self.neighbourhood)


@dataclass(frozen=True)
class CountedFlops:
    """FLOPs of one input: forward by fvcore and by torch, and forward plus backward by torch."""

    fvcore: int
    torch: int
    trained: int

    def plus(self, layers: int, deeper: CountedFlops) -> CountedFlops:
        """With `layers` more layers, each adding the difference between `deeper` and this."""
        return CountedFlops(
            self.fvcore + layers * (deeper.fvcore - self.fvcore),
            self.torch + layers * (deeper.torch - self.torch),
            self.trained + layers * (deeper.trained - self.trained),
        )


def profile_models(
    models: Mapping[str, Model],
    tasks: Mapping[str, Task],
    runs: Iterable[Run],
    sentence_pieces: int,
    max_length: int,
) -> ModelsProfile:
    """Costs of every run's model at its task's vocabulary, and of every row of the paper's table 3.

    Raises:
        ProfileError: an operator that cannot be counted, or counters that disagree.
    """

    def costs(model: Model, vocabulary: int, labels: int = 0) -> ModelCost:
        # the cost does not depend on these: normalise them for the cache
        shape = model.replace(P_drop=0.0, eps_ls=0.0, steps=1, average=1, checkpoint_steps=1)
        return profile_model(shape, vocabulary, sentence_pieces, max_length, labels)

    own: dict[str, dict[str, ModelCost]] = {}
    for run in runs:
        task = tasks[run.task]
        found = costs(models[run.model], task.bpe.vocabulary, len(task.text.labels or ()))
        own.setdefault(run.model, {})[run.task] = found
    return ModelsProfile(
        sentence_pieces=sentence_pieces,
        models=own,
        paper={row: costs(model_of(row), PAPER.vocabulary) for row in PAPER.table_3},
    )


def on_meta(
    model: Model, vocabulary: int, table_length: int, labels: int
) -> Transformer | Classifier:
    """A model on the meta device: full size, no memory. Arguments as for `profile_model`."""
    with torch.device("meta"):
        if labels:
            return Classifier(model, vocabulary, labels, max_length=table_length)
        return Transformer(model, vocabulary, max_length=table_length)


@cache
def profile_model(
    model: Model, vocabulary: int, length: int, table_length: int, labels: int = 0
) -> ModelCost:
    """Parameters, and FLOPs of a pair of `length` pieces per side, or of a sentence and its label.

    Args:
        table_length: rows of the learned position tables, where the model has them.
        labels: number of classes of a classifier; 0 for an encoder-decoder.
    Raises:
        ProfileError: fvcore, torch's counter and the closed formula are not equal.
    """
    built = on_meta(model, vocabulary, table_length, labels)
    formula = ForwardFlops.of(model, vocabulary, labels)
    counted = count_layers(model, vocabulary, length, table_length, labels)
    forward = formula.pair(length, 1 if labels else length)
    if counted != CountedFlops(forward, forward, TRAINING_TO_FORWARD * forward):
        raise ProfileError(
            f"{model} over {vocabulary:,} pieces: {counted}, but the closed formula gives "
            f"{forward:,}. Correct whichever is wrong in src/aiayn/profiling/."
        )
    per_piece = formula.per_piece(length)
    return ModelCost(
        vocabulary=vocabulary,
        parameters=sum(parameter.numel() for parameter in built.parameters()),
        forward_flops=per_piece,
        training_flops=Sides(
            source=TRAINING_TO_FORWARD * per_piece.source,
            target=TRAINING_TO_FORWARD * per_piece.target,
        ),
        pair_flops=PairFlops(forward=counted.torch, training=counted.trained),
    )


def count_layers(
    model: Model, vocabulary: int, length: int, table_length: int, labels: int = 0
) -> CountedFlops:
    """As `count`, extrapolated to N layers from models of zero and one layer, because all layers
    are alike. Arguments as for `profile_model`."""
    without, with_one = (
        count(model.model_copy(update={"N": layers}), vocabulary, length, table_length, labels)
        for layers in (0, 1)
    )
    return without.plus(model.N, with_one)


@cache
def count(
    model: Model, vocabulary: int, length: int, table_length: int, labels: int = 0
) -> CountedFlops:
    """FLOPs of a model, every layer counted. Arguments as for `profile_model`."""
    built = on_meta(model, vocabulary, table_length, labels).eval()
    with torch.device("meta"):
        pieces = torch.zeros(1, length, dtype=torch.long)
    inputs = (pieces,) if labels else (pieces, pieces)
    fvcore = sum(count_with_fvcore(built, *inputs).values())
    return CountedFlops(fvcore, *count_with_torch(lambda: built(*inputs), backward=True))
