"""Table 3 as lines of CSV: the paper's line of each row, ours after it, then our own rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aiayn.config import Config
from aiayn.paper import Paper
from aiayn.paper.claims import agreement
from aiayn.report.table_3.variation_verdicts import model_name
from aiayn.results.comparison import Comparison, Measure
from aiayn.results.profiles import ModelsProfile

OURS_ALONE = "own"
# of ours beside the base: a ratio of perplexities or a difference of BLEU, its 95 % interval, the
# p-value corrected over the table and the looks at it, what is said; sentences_p are sacreBLEU's
# paired bootstrap tests
FIELDS = (
    "origin", "row", "group", "model", "runs", "split", "test_set", "pairs",
    "perplexity", "perplexity_sd", "perplexity_ratio", "perplexity_low", "perplexity_high",
    "perplexity_p", "perplexity_moves",
    "bleu", "bleu_sd", "bleu_difference", "bleu_low", "bleu_high", "bleu_p", "bleu_moves",
    "sentences_p", "parameters",
)  # fmt: skip


def own_models(paper: Paper, config: Config, found: Comparison | None) -> list[str]:
    """Models that learned the task but stand in no row of the paper."""
    rows = {model_name(config, key) for key in paper.table_3}
    return [name for name in (found.models if found else {}) if name not in rows]


def records(
    paper: Paper, config: Config, found: Comparison | None, profile: ModelsProfile | None
) -> Iterator[dict[str, str]]:
    """All lines, each with all FIELDS."""
    empty = dict.fromkeys(FIELDS, "")
    for key, printed in paper.table_3.items():
        millions = printed.parameters_millions
        yield empty | {
            "origin": "paper",
            "row": key,
            "group": printed.group,
            "split": "dev",
            "test_set": "+".join(paper.table_3_test_set.corpora),
            "pairs": str(paper.table_3_test_set.pairs),
            "perplexity": printed.perplexity.text,
            "bleu": printed.bleu.text,
            "parameters": f"{millions.value * 1e6:.0f}" if millions else "",
        }
        yield from _ours(
            empty | {"row": key, "group": printed.group},
            model_name(config, key), config, found, profile,
        )  # fmt: skip
    for name in own_models(paper, config, found):
        yield from _ours(empty | {"group": OURS_ALONE}, name, config, found, profile)


def _ours(
    line: Mapping[str, str],
    name: str,
    config: Config,
    found: Comparison | None,
    profile: ModelsProfile | None,
) -> Iterator[dict[str, str]]:
    variation = found.models.get(name) if found else None
    if found is None or variation is None:
        return
    cost = profile.models.get(name, {}).get(config.variations.task) if profile else None
    seeds = variation.seeds.values()
    yield {
        **line,
        "origin": "ours",
        "model": name,
        "runs": " ".join(seed.run for seed in seeds),
        "split": found.split,
        "test_set": "+".join(found.test_set.corpora),
        "pairs": str(found.test_set.pairs),
        **_measured("perplexity", "ratio", variation.perplexity, is_base=name == found.base),
        **_measured("bleu", "difference", variation.bleu, is_base=name == found.base),
        "sentences_p": " ".join(f"{seed.sentences.p_value}" for seed in seeds if seed.sentences),
        "parameters": str(cost.parameters) if cost else "",
    }


def _measured(name: str, effect_name: str, measure: Measure, *, is_base: bool) -> dict[str, str]:
    effect = measure.effect
    cells = {
        name: measure.mean,
        f"{name}_sd": measure.sd,
        f"{name}_{effect_name}": effect and effect.value,
        f"{name}_low": effect and effect.low,
        f"{name}_high": effect and effect.high,
        f"{name}_p": effect and effect.corrected,
    }
    texts = {key: "" if value is None else f"{value}" for key, value in cells.items()}
    moves = "" if is_base else agreement(measure.claim, measure.outcome)
    return texts | {f"{name}_moves": moves}
