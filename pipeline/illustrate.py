"""Compute what the figures that explain the model show. Reads the weights of the run named in
params.yaml, data/bpe and data/text of its task; writes illustrations/."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from aiayn import config
from aiayn.compute.device import open_device
from aiayn.decoding.text import read_sentences, translate
from aiayn.decoding.weights import load_model
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.illustrations.attention import head_statistics, sentence_maps
from aiayn.illustrations.tables import FORMULAS, csv_text
from aiayn.tokens.bpe import START, Bpe

PAIRS = 32  # for the means of each head; decoders read the references


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    params = config.load_for("illustrate")
    name, sentence = params.illustrations.run, params.illustrations.sentence
    row, task = params.model_of(name), params.run(name).task
    text = Path("data/text", task)
    device = open_device(**vars(params.machine), d_model=row.d_model)
    bpe = Bpe(Path("data/bpe", task, "model.model"))
    model = load_model(Path("models", name, "averaged.safetensors"), row, bpe.size, device)
    sources, targets = (read_sentences(text / f"test.{side}") for side in ("source", "target"))
    sentence = sentence or next(line for line in sources if line.strip())
    (translation,) = translate(model, bpe, [sentence], params.task(task).decoding, device)
    with device.autocast(), replaced_folder(Path("illustrations")) as folder:
        for file, lines in FORMULAS.items():
            write_atomically(folder / f"{file}.csv", csv_text(lines()))
        maps = {"run": name, "task": task, **sentence_maps(model, bpe, sentence, translation)}
        write_atomically(folder / "attention.json", json.dumps(maps, ensure_ascii=False) + "\n")
        read = zip(bpe.encode(sources[:PAIRS], end=True), bpe.encode(targets[:PAIRS]), strict=True)
        pairs = [(source, [START, *target]) for source, target in read]
        write_atomically(folder / "heads.csv", csv_text(head_statistics(model, pairs)))


if __name__ == "__main__":
    main()
