"""CTranslate2 with our weights computes what our model does, and finds the same hypotheses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.commands.export.conftest import PIECES, SENTENCES, RandomModel

from aiayn.commands.export.engine import EngineSearch
from aiayn.config import Decoding
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.beam import beam_search
from aiayn.model.device import Device

ctranslate2 = pytest.importorskip("ctranslate2", reason="the extra ctranslate2 is not installed")
ROWS: tuple[dict[str, object], ...] = (
    {},
    {"positions": "learned"},
    {"N": 1, "h": 4, "d_k": 4, "d_v": 4},
)


@pytest.mark.parametrize("columns", ROWS)
def test_probabilities_are_ours(
    random_model: RandomModel, tmp_path: Path, columns: dict[str, object]
) -> None:
    from aiayn.commands.export import to_ctranslate2

    model, row = random_model(**columns)
    to_ctranslate2.write_model(model, row, PIECES, tmp_path)
    source, target = torch.randint(4, 40, (4, 9)), torch.randint(4, 40, (4, 7))
    ends, starts = torch.full((4, 1), END), torch.full((4, 1), START)
    with torch.no_grad():
        logits = model(torch.cat((source, ends), 1), torch.cat((starts, target), 1))
    logits[..., [PAD, START]] = float("-inf")
    labels = torch.cat((target, ends), 1)
    expected = logits.log_softmax(2).gather(2, labels[..., None])[..., 0]
    engine = ctranslate2.Translator(str(tmp_path), compute_type="float32")
    words = [[[PIECES[n] for n in line] for line in side.tolist()] for side in (source, target)]
    found = [scored.log_probs for scored in engine.score_batch(*words)]
    torch.testing.assert_close(torch.tensor(found), expected, atol=1e-4, rtol=0)


def test_without_a_length_penalty_the_hypotheses_are_ours(
    random_model: RandomModel, bpe: Path, tmp_path: Path
) -> None:
    from aiayn.commands.export import to_ctranslate2

    model, row = random_model(pieces=Bpe(bpe).size)
    with torch.no_grad():
        # likelier to end
        last = model.decoder_layers[-1].feed_forward_residual.norm.bias
        last.add_(3.0 * model.embedding[END])
    folder = tmp_path / "exported"
    folder.mkdir()
    search = EngineSearch(beam=4, alpha=0.0, longest=60)
    to_ctranslate2.write(model, row, bpe, search, folder)
    words = " ".join(SENTENCES).split()
    sources = [" ".join(words[n : n + 1 + n % 5]) for n in range(len(words))]
    pieces = Bpe(bpe).encode(sources)
    decoding = Decoding(beam=4, alpha=0.0, extra_length=51)
    device = Device(torch.device("cpu"), "float32")
    ours = beam_search(model, [[*line, END] for line in pieces], decoding, device)
    found = to_ctranslate2.translate(folder, sources, search)
    expected = Bpe(bpe).decode([hypothesis.pieces for hypothesis in ours])
    # hypotheses cut off by the length limits differ
    ended = [n for n, hypothesis in enumerate(ours) if len(hypothesis.pieces) < len(pieces[n]) + 51]
    assert [found[n] for n in ended] == [expected[n] for n in ended]
    assert len(ended) >= 10
    assert len({expected[n] for n in ended}) > 1
