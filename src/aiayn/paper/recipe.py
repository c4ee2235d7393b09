"""The paper's recipe: the requirements on a run for its score to be comparable with a printed one.

What the paper does not state is not required (`UNSTATED`, the seed, and the precision of matrix
products). Two requirements come from the authors' code: the maximum length of training pairs, which
affects the training text, and the stopping criterion of beam search, which affects its results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiayn.paper.corpora import EvaluationSet, TrainingText
from aiayn.paper.printed import Printed
from aiayn.paper.requirement import Requirement, about, exactly

CHECKPOINT_MINUTES = 10  # section 6.1
THE_AUTHORS_CODE = "the authors' code; the paper is silent"
UNSTATED = frozenset(
    {
        "training.micro_batches", "training.validation_steps", "training.log_steps",
        "bpe.normalization",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The requirements on a run.

    `parameters` are by dotted name: `model.N`, `training.adam.beta1`; `decoding.beam` and
    `bpe.vocabulary` are those of the run's task. Parameters in `unstated` may have any value; all
    others must have their default, because they are extensions that the paper does not have.
    """

    parameters: Mapping[str, Requirement]
    training_text: TrainingText
    evaluation_set: EvaluationSet
    unstated: frozenset[str] = UNSTATED


TRAINING = {
    # "approximately": rounds to 25 thousand
    "training.batch_tokens": about("about 25000", "section 5.1", low=24_500, high=25_500),
    "training.max_length": exactly("256", THE_AUTHORS_CODE),
    "training.adam.beta1": exactly("0.9", "section 5.3"),
    "training.adam.beta2": exactly("0.98", "section 5.3"),
    "training.adam.epsilon": exactly("1e-9", "section 5.3"),
    "training.warmup_steps": exactly("4000", "section 5.3"),
    "training.learning_rate_scale": exactly("1.0", "section 5.3"),
}
# "about": rounds to 37 thousand. 500 pieces are 0.25 of base's 63 million parameters; the paper's
# own parameter counts leave 3,000 pieces open
EN_DE_VOCABULARY = about("about 37000", "section 5.1", low=36_500, high=37_500)
EN_FR_VOCABULARY = exactly("32000", "section 5.1")


def search(beam: str, alpha: str, extra_length: str, source: str) -> dict[str, Requirement]:
    """Requirements on beam search; the maximum output length is input + `extra_length` pieces."""
    return {
        "decoding.beam": exactly(beam, source),
        "decoding.alpha": exactly(alpha, source),
        "decoding.extra_length": exactly(extra_length, source),
        "decoding.stop": exactly("bound", THE_AUTHORS_CODE),
    }


SEARCH = search("4", "0.6", "50", "section 6.1")


def columns(cells: Mapping[str, Printed], source: str) -> dict[str, Requirement]:
    """Requirements on a model, from its columns of table 3."""
    return {f"model.{name}": exactly(cell.text, source) for name, cell in cells.items()}


def averaging(checkpoints: str, seconds_per_step: str) -> dict[str, Requirement]:
    """Requirements on the averaged checkpoints, which the paper writes every 10 minutes.

    The printed step time is rounded to a tenth of a second, so the interval in steps is a range.
    """
    seconds = Printed(seconds_per_step).value
    interval = CHECKPOINT_MINUTES * 60
    return {
        "model.average": exactly(checkpoints, "section 6.1"),
        "model.checkpoint_steps": about(
            f"about {interval / seconds:.0f}",
            f"section 6.1: {CHECKPOINT_MINUTES} minutes; section 5.2: {seconds_per_step} s a step",
            low=interval / (seconds + 0.05),
            high=interval / (seconds - 0.05),
        ),
    }
