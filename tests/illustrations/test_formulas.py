"""The tables compared with the paper's formulas, which are written again here."""

from __future__ import annotations

import math

import pytest

from aiayn.illustrations import formulas


def test_positions_are_the_sinusoids_of_section_3_5() -> None:
    lines = formulas.positions().to_dict("records")
    assert len(lines) == formulas.POSITIONS * formulas.D_MODEL
    for line in lines[:: len(lines) // 97]:
        pair = line["channel"] // 2
        angle = line["position"] / 10000 ** (2 * pair / formulas.D_MODEL)
        expected = math.cos(angle) if line["channel"] % 2 else math.sin(angle)
        assert line["value"] == pytest.approx(expected, abs=1e-4)


def test_similarity_to_itself_is_one_and_depends_on_the_distance_alone() -> None:
    by_distance: dict[float, set[float]] = {}
    for line in formulas.similarity().to_dict("records"):
        distance = abs(line["position"] - line["other"])
        by_distance.setdefault(distance, set()).add(line["similarity"])
    assert by_distance[0] == {1.0}
    for distance, values in by_distance.items():
        # sum of cos(distance * frequency), by the addition theorem
        frequencies = (10000 ** (-2 * i / formulas.D_MODEL) for i in range(formulas.D_MODEL // 2))
        expected = sum(math.cos(distance * f) for f in frequencies) / (formulas.D_MODEL / 2)
        assert max(values) - min(values) <= 2e-4
        assert min(values) == pytest.approx(expected, abs=2e-4)


def test_a_position_may_attend_to_itself_and_earlier_ones() -> None:
    lines = formulas.subsequent_mask().to_dict("records")
    assert len(lines) == formulas.MASKED_POSITIONS**2
    assert all(line["may_attend"] == (line["other"] <= line["position"]) for line in lines)


def test_learning_rates_peak_at_the_end_of_warm_up() -> None:
    lines = formulas.learning_rates().to_dict("records")
    for d_model, warmup_steps in formulas.SCHEDULES:
        rates = {
            line["step"]: line["learning_rate"]
            for line in lines
            if (line["d_model"], line["warmup_steps"]) == (d_model, warmup_steps)
        }
        assert max(rates, key=rates.__getitem__) == warmup_steps
        assert rates[warmup_steps] == pytest.approx((d_model * warmup_steps) ** -0.5, rel=1e-5)


def test_smoothed_targets_are_a_distribution() -> None:
    lines = formulas.smoothed_targets().to_dict("records")
    for eps_ls in formulas.SMOOTHINGS:
        probabilities = [line["probability"] for line in lines if line["eps_ls"] == eps_ls]
        assert sum(probabilities) == pytest.approx(1, abs=1e-3)
        share = eps_ls / formulas.PIECES
        expected = [
            share + (1 - eps_ls) * (n == formulas.RIGHT_PIECE) for n in range(formulas.PIECES)
        ]
        assert probabilities == pytest.approx(expected, abs=1e-4)


def test_the_penalty_is_least_where_the_prediction_is_the_target() -> None:
    lines = formulas.smoothing_penalty().to_dict("records")
    for eps_ls in formulas.SMOOTHINGS[1:]:
        curve = [line for line in lines if line["eps_ls"] == eps_ls]
        minimum = min(curve, key=lambda line: line["loss"])
        target = 1 - eps_ls + eps_ls / formulas.PIECES
        assert minimum["confidence"] == pytest.approx(target, abs=0.02)
    plain = [line for line in lines if line["eps_ls"] == 0]
    for line in plain:
        assert line["loss"] == pytest.approx(-math.log(line["confidence"]), abs=1e-3)
