"""What a run looks at in a sentence that it labels: one sentence of those that it decodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aiayn.decoding.outputs import Decoder, classifier_of
from aiayn.illustrations.attention import label_maps
from aiayn.results import places
from aiayn.results.illustrations import write_attention

WORDS = range(6, 16)  # of a sentence that can be read in a figure


def draw_labelled(
    folder: Path,
    decoder: Decoder,
    run: str,
    task: str,
    sentences: Sequence[str],
    lines: Sequence[str],
) -> None:
    """Write into `folder` the attention maps of the first sentence of a length that can be drawn;
    nothing for a run that writes sentences, or where there is no such sentence.

    Args:
        lines: what the run made of the sentences.
    """
    chosen = (n for n, sentence in enumerate(sentences) if len(sentence.split()) in WORDS)
    number, model = next(chosen, None), classifier_of(decoder)
    if model is None or number is None:
        return
    label = lines[number].partition("\t")[0]
    with decoder.device.autocast():
        maps = label_maps(model, decoder.bpe, sentences[number], label, run=run, task=task)
    write_attention(places.attention(folder), maps)
