"""MarianMT with our weights computes what our model does; its tokenizer is our vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.commands.export.conftest import SENTENCES, RandomModel

from aiayn.commands.export.engine import EngineSearch
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, PAD, START

pytest.importorskip("transformers", reason="the extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # the library's own warnings


@pytest.mark.parametrize("columns", [{}, {"N": 1, "h": 4, "d_k": 4, "d_v": 4}])
def test_logits_and_pieces_are_ours(
    random_model: RandomModel, bpe: Path, tmp_path: Path, columns: dict[str, object]
) -> None:
    from transformers import MarianMTModel, MarianTokenizer

    from aiayn.commands.export import to_transformers

    pieces = Bpe(bpe).size
    model, row = random_model(pieces=pieces, **columns)
    folder = tmp_path / "exported"
    folder.mkdir()
    search = EngineSearch(beam=2, alpha=0.7, longest=20)
    to_transformers.write(model, row, bpe, search, folder)
    marian, tokenizer = (kind.from_pretrained(folder) for kind in (MarianMTModel, MarianTokenizer))
    ids = [[*line, END] for line in Bpe(bpe).encode(SENTENCES)]
    batch = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    assert [
        line[: len(own)] for line, own in zip(batch.input_ids.tolist(), ids, strict=True)
    ] == ids
    assert (batch.input_ids != PAD).sum() == batch.attention_mask.sum() == sum(map(len, ids))
    target = torch.cat((torch.full((4, 1), START), torch.randint(4, pieces, (4, 8))), 1)
    with torch.no_grad():
        expected = model(batch.input_ids, target)
        found = marian(**batch, decoder_input_ids=target).logits
        found_alone = marian.eval().generate(**batch, num_beams=1)
    output = [n for n in range(pieces) if n not in (PAD, START)]
    torch.testing.assert_close(found[..., output], expected[..., output], atol=1e-3, rtol=0)
    assert found[..., [PAD, START]].max() < -1e8
    assert marian.generation_config.num_beams == 2
    assert marian.generation_config.length_penalty == 0.7
    greedy = expected[:, 0, output].argmax(1)
    assert found_alone[:, 0].eq(START).all()
    assert [output[n] for n in greedy] == found_alone[:, 1].tolist()
    assert len(to_transformers.translate(folder, SENTENCES, search)) == 4
