"""Beam search compared with exhaustive search, greedy search, and itself in other batches."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Literal

import pytest
import torch

from aiayn.config import Decoding, Model
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding import beam
from aiayn.decoding.beam import Hypothesis, beam_search, length_penalty, n_best
from aiayn.decoding.candidates import NEVER
from aiayn.decoding.incremental import IncrementalDecoder, Prefixes
from aiayn.errors import CheckpointError
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer

CPU = Device(torch.device("cpu"), "float32")
VOCABULARY = 7
WORDS = [n for n in range(VOCABULARY) if n not in (PAD, START, END)]
Row = Callable[..., Model]


def random_model(row: Model, seed: int, *, vocabulary: int = VOCABULARY) -> Transformer:
    """Untrained, with logits large enough that hypotheses differ, and an unlikely end."""
    torch.manual_seed(seed)
    model = Transformer(row, vocabulary, max_length=64).eval()
    with torch.no_grad():
        model.embedding.mul_(2)
        model.embedding[END] *= -1
    return model


def log_probabilities(model: Transformer, source: list[int], *texts: Sequence[int]) -> torch.Tensor:
    """log P of every next piece after each prefix of n texts of T pieces each, by the model's
    parallel path; (n, T + 1, V)."""
    with torch.no_grad():
        target = torch.tensor([[START, *pieces] for pieces in texts])
        logits = model(torch.tensor([source] * len(texts)), target)
    logits[..., [PAD, START]] = float("-inf")
    return logits.log_softmax(-1)


def exhaustive(model: Transformer, source: list[int], decoding: Decoding) -> Hypothesis:
    best = Hypothesis([], float("-inf"))
    for length in range(len(source) - 1 + decoding.extra_length + 1):
        texts = [*itertools.product(WORDS, repeat=length)]
        tables = log_probabilities(model, source, *texts)
        for pieces, table in zip(texts, tables, strict=True):
            total = sum(table[t, piece].item() for t, piece in enumerate((*pieces, END)))
            score = total / length_penalty(length + 1, decoding.alpha)
            best = max(best, Hypothesis(list(pieces), score), key=lambda h: h.score)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_wide_beam_finds_the_best_hypothesis(tiny: Row, alpha: float) -> None:
    decoding = Decoding(beam=4**4, alpha=alpha, extra_length=2)
    lengths = set()
    for seed in range(4):
        model = random_model(tiny(), seed)
        for source in ([4, END], [6, 5, END]):
            expected = exhaustive(model, source, decoding)
            found = beam_search(model, [source], decoding, CPU)[0]
            assert found.pieces == expected.pieces
            assert found.score == pytest.approx(expected.score, abs=1e-5)
            lengths.add(len(found.pieces))
    assert len(lengths) > 1, "models with equal outputs test nothing"


def test_a_beam_of_one_is_greedy(tiny: Row) -> None:
    decoding = Decoding(beam=1, alpha=0.6, extra_length=10)
    ended = 0
    for seed in range(12):
        model = random_model(tiny(), seed)
        source = [4, 5, 6, END]
        pieces: list[int] = []
        while len(pieces) <= 13:
            piece = int(log_probabilities(model, source, pieces)[0, -1].argmax())
            if piece == END:
                ended += 1
                break
            pieces.append(piece)
        assert beam_search(model, [source], decoding, CPU)[0].pieces == pieces[:13]
    assert 0 < ended < 12


def ended_hypotheses(
    model: Transformer, source: list[int], decoding: Decoding, count: float
) -> list[Hypothesis]:
    """Hypotheses in the order in which they end, until `count` have, by the plain definition."""
    done: list[Hypothesis] = []
    beam: list[tuple[float, list[int]]] = [(0.0, [])]
    limit = len(source) - 1 + decoding.extra_length
    for length in range(1, limit + 2):
        tables = log_probabilities(model, source, *(pieces for _, pieces in beam))
        extensions = [
            (total + float(log_p), [*pieces, piece])
            for (total, pieces), table in zip(beam, tables, strict=True)
            for piece, log_p in enumerate(table[-1])
            if piece not in (PAD, START) and (length <= limit or piece == END)
        ]
        extensions.sort(key=lambda extension: -extension[0])
        penalty = length_penalty(length, decoding.alpha)
        done += [
            Hypothesis(pieces[:-1], total / penalty)
            for total, pieces in extensions[: decoding.beam]
            if pieces[-1] == END
        ]
        if len(done) >= count:
            break
        beam = [e for e in extensions if e[1][-1] != END][: decoding.beam]
    return done


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_stop_beam_ends_after_a_beam_of_hypotheses(tiny: Row, alpha: float) -> None:
    exact = Decoding(beam=3, alpha=alpha, extra_length=12)
    early = exact.replace(stop="beam")
    worse = 0
    for seed in range(8):
        model = random_model(tiny(), seed)
        sentences = [[4, 5, END], [6, END], [5, 5, 4, 6, END]]
        for source, found in zip(sentences, beam_search(model, sentences, early, CPU), strict=True):
            expected = max(
                ended_hypotheses(model, source, early, early.beam), key=lambda h: h.score
            )
            assert found.pieces == expected.pieces
            assert found.score == pytest.approx(expected.score, abs=1e-5)
            worse += beam_search(model, [source], exact, CPU)[0].score > found.score + 1e-5
    assert (worse > 0) == (alpha > 0), "without a penalty no later hypothesis is better"


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_the_n_best_of_all_ended_hypotheses(tiny: Row, alpha: float) -> None:
    decoding = Decoding(beam=4, alpha=alpha, extra_length=8)
    lengths = set()
    for seed in range(4):
        model = random_model(tiny(), seed)
        sentences = [[4, 5, END], [6, END], [5, 5, 4, 6, END]]
        for source, found in zip(
            sentences, n_best(model, sentences, decoding, CPU, 3), strict=True
        ):
            ended = ended_hypotheses(model, source, decoding, float("inf"))
            expected = sorted(ended, key=lambda h: -h.score)[:3]
            assert [h.pieces for h in found] == [h.pieces for h in expected]
            assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-5)
            lengths |= {len(h.pieces) for h in found}
    assert len(lengths) > 2


def sources(number: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(number)
    return [
        [*torch.randint(4, 40, (int(length),), generator=generator).tolist(), END]
        for length in torch.randint(1, 30, (number,), generator=generator)
    ]


@pytest.mark.slow
def test_other_sentences_in_the_batch_change_nothing(
    tiny: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model(tiny(), 3, vocabulary=40)
    decoding = Decoding(beam=4, alpha=0.6, extra_length=20)
    alone = [beam_search(model, [source], decoding, CPU)[0] for source in sources(25)]
    assert len({len(h.pieces) for h in alone}) > 3
    for rows in (12, 512):
        monkeypatch.setattr(beam, "BATCH_ROWS", rows)
        together = beam_search(model, sources(25), decoding, CPU)
        backwards = beam_search(model, sources(25)[::-1], decoding, CPU)[::-1]
        for found in (together, backwards):
            assert [h.pieces for h in found] == [h.pieces for h in alone], rows
        assert [h.score for h in together] == pytest.approx([h.score for h in alone], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_threads_change_nothing(
    tiny: Row, precision: Literal["float32", "bfloat16"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bits: a batch's sums are added up by one thread, however many there are."""
    model = random_model(tiny(), 3, vocabulary=40)
    decoding = Decoding(beam=4, alpha=0.6, extra_length=20)
    monkeypatch.setattr(beam, "BATCH_ROWS", 12)  # several batches for each thread
    device = Device(torch.device("cpu"), precision)
    before, searched_by = torch.get_num_threads(), set()
    start = IncrementalDecoder.start

    def recording_start(decoder: IncrementalDecoder, source: torch.Tensor, width: int) -> Prefixes:
        searched_by.add((threading.get_ident(), torch.get_num_threads()))
        return start(decoder, source, width)

    monkeypatch.setattr(IncrementalDecoder, "start", recording_start)
    try:
        torch.set_num_threads(1)
        one_thread = beam_search(model, sources(25), decoding, device)
        assert searched_by == {(threading.get_ident(), 1)}
        torch.set_num_threads(3)
        searched_by.clear()
        three_threads = beam_search(model, sources(25), decoding, device)
        assert torch.get_num_threads() == 3, "restored"
    finally:
        torch.set_num_threads(before)
    assert one_thread == three_threads
    assert {threads for _, threads in searched_by} == {1}
    assert threading.get_ident() not in {thread for thread, _ in searched_by}


def test_the_score_is_that_of_the_parallel_path(tiny: Row) -> None:
    model = random_model(tiny(d_k=3, d_v=5), 5, vocabulary=40)
    decoding = Decoding(beam=4, alpha=0.6, extra_length=20)
    for source, found in zip(
        sources(10), beam_search(model, sources(10), decoding, CPU), strict=True
    ):
        (table,) = log_probabilities(model, source, found.pieces)
        total = sum(table[t, piece].item() for t, piece in enumerate((*found.pieces, END)))
        expected = total / length_penalty(len(found.pieces) + 1, decoding.alpha)
        assert found.score == pytest.approx(expected, abs=1e-4)


def test_output_is_at_most_input_plus_extra_length(tiny: Row) -> None:
    model = random_model(tiny(), 0)
    with torch.no_grad():  # an end that never comes
        model.embedding[END] = 0
        model.decoder[-1].feed_forward_residual.norm.weight.zero_()
        model.decoder[-1].feed_forward_residual.norm.bias.copy_(10 * model.embedding[4])
    decoding = Decoding(beam=4, alpha=0.6, extra_length=3)
    outputs = beam_search(model, [[4, END], [4, 5, 6, END]], decoding, CPU)
    assert [len(h.pieces) for h in outputs] == [4, 6]
    assert all(h.score > float("-inf") for h in outputs)


def test_stopping_early_loses_nothing(tiny: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same hypotheses as a search that never stops before the limit."""
    model = random_model(tiny(), 3, vocabulary=40)
    decoding = Decoding(beam=4, alpha=0.6, extra_length=20)
    stopped = beam_search(model, sources(20), decoding, CPU)

    def never_early(search: beam._Search, length: int) -> None:
        search.total_BW[length > search.limit_B] = NEVER

    monkeypatch.setattr(beam._Search, "_prune", never_early)
    assert [h.pieces for h in beam_search(model, sources(20), decoding, CPU)] == [
        h.pieces for h in stopped
    ]


def test_length_penalty() -> None:
    """Equation 14 of Wu et al. 2016."""
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(7, 0.6) == pytest.approx(2**0.6)
    assert length_penalty(25, 0) == 1


def test_search_in_bfloat16(tiny: Row) -> None:
    """As on a GPU. Rounding may decide near ties otherwise, so most outputs agree, not all."""
    model = random_model(tiny(), 3, vocabulary=40)
    decoding = Decoding(beam=4, alpha=0.6, extra_length=20)
    exact = beam_search(model, sources(20), decoding, CPU)
    rounded = beam_search(model, sources(20), decoding, Device(torch.device("cpu"), "bfloat16"))
    assert sum(a.pieces == b.pieces for a, b in zip(exact, rounded, strict=True)) > 10


def test_nan_weights_are_a_one_line_error(tiny: Row) -> None:
    model = random_model(tiny(), 3)
    with torch.no_grad():
        model.embedding.fill_(float("nan"))
    decoding = Decoding(beam=2, alpha=0.6, extra_length=3)
    with pytest.raises(
        CheckpointError, match="no output of a sentence of .*are not finite. Train it again"
    ):
        beam_search(model, [[4, END], [5, END]], decoding, CPU)
