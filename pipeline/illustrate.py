"""Compute the data of the figures that explain the model. Reads the weights of the run named in
params.yaml, data/bpe and data/text of its task; writes illustrations/. Formats: illustrations 1."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.input_text import like_training_text
from aiayn.data.tokens.special import START
from aiayn.decoding.text import translate
from aiayn.decoding.weights import load_model
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder
from aiayn.illustrations.attention import head_statistics, sentence_maps
from aiayn.illustrations.formulas import FORMULAS
from aiayn.launcher import exec_single_under_launcher
from aiayn.model.device import open_device
from aiayn.results import paths
from aiayn.results.illustrations import write_attention, write_table
from aiayn.results.text import read_lines

PAIRS = 32  # sentence pairs for the means of each head; the decoder is fed the references


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    exec_single_under_launcher()
    params = config.load()
    name, sentence = params.illustrations.run, params.illustrations.sentence
    row, task = params.model_of(name), params.run(name).task
    text = paths.text(task)
    device = open_device(**dict(params.machine), d_model=row.d_model)
    bpe = Bpe(paths.bpe_model(paths.vocabulary(task)))
    model = load_model(paths.averaged(paths.model(name)), row, bpe.size, device)
    sources, targets = (read_lines(paths.lines(text, paths.TEST, side)) for side in paths.SIDES)
    if sentence:
        (sentence,) = like_training_text([sentence], params.task(task))
    else:
        sentence = next(line for line in sources if line.strip())
    (translation,) = translate(model, bpe, [sentence], params.task(task).search, device)
    with device.autocast(), replaced_folder(paths.ILLUSTRATIONS) as folder:
        for key, formula in FORMULAS.items():
            write_table(paths.illustration(folder, key), formula())
        maps = sentence_maps(model, bpe, sentence, translation, run=name, task=task)
        write_attention(paths.attention(folder), maps)
        encoder_inputs = bpe.encode(sources[:PAIRS], end=True)
        decoder_inputs = [[START, *target] for target in bpe.encode(targets[:PAIRS])]
        pairs = list(zip(encoder_inputs, decoder_inputs, strict=True))
        write_table(paths.illustration(folder, "heads"), head_statistics(model, pairs))


if __name__ == "__main__":
    main()
