"""Translate the dev and test sets by beam search (section 6.1). Reads models/RUN, data/bpe/TASK and
data/text/TASK; writes outputs/RUN/SPLIT.hypotheses and circumstances/RUN.decode.json."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tqdm import tqdm

from aiayn import config
from aiayn.decoding.text import read_sentences, translate
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.model.checkpoints import load_model
from aiayn.model.device import open_device
from aiayn.tokens.bpe import Bpe


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    run = parser.parse_args().run
    params = config.load()
    name = params.run(run).task
    task = params.task(name)
    device = open_device(
        params.training.device, params.training.precision, d_model=params.model_of(run).d_model
    )
    bpe = Bpe(Path("data/bpe", name, "model.model"))
    weights = Path("models", run, "averaged.safetensors")
    model = load_model(weights, params.model_of(run), bpe.size, device)
    splits = {split: read_sentences(Path("data/text", name, f"{split}.source")) for split in ("dev", *task.text.tests)}
    begun = time.perf_counter()
    with replaced_folder(Path("outputs", run)) as folder, tqdm(
        total=sum(map(len, splits.values())), desc=f"decode {run}", unit="sentence", disable=None
    ) as progress:
        for split, sentences in splits.items():
            outputs = translate(model, bpe, sentences, task.decoding, device, progress.update)
            write_atomically(folder / f"{split}.hypotheses", "".join(f"{line}\n" for line in outputs))
    seconds = time.perf_counter() - begun
    sentences = sum(map(len, splits.values()))
    speed = {"sentences": sentences, "seconds": round(seconds, 2), "sentences_per_second": round(sentences / seconds, 1)}
    write_atomically(Path("circumstances", f"{run}.decode.json"), json.dumps(speed, indent=2) + "\n")


if __name__ == "__main__":
    main()
