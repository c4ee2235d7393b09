"""Translate by beam search: the dev set with the last checkpoint (section 6.2) and, if the run is
tested, the test sets with the averaged ones (section 6.1). Reads models/RUN, data/bpe/TASK and
data/text/TASK; writes outputs/RUN/SPLIT.hypotheses and circumstances/RUN.decode.json."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tqdm import tqdm

from aiayn import config
from aiayn.compute.device import open_device
from aiayn.decoding.text import read_sentences, translate, write_sentences
from aiayn.decoding.weights import load_model, weights_for
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.tokens.bpe import Bpe


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    name = parser.parse_args().run
    params = config.load_for("decode", name)
    run, row = params.run(name), params.model_of(name)
    task, text = params.task(run.task), Path("data/text", run.task)
    device = open_device(**vars(params.machine), d_model=row.d_model)
    bpe = Bpe(Path("data/bpe", run.task, "model.model"))
    splits = params.splits_of(name)
    sources = {split: read_sentences(text / f"{split}.source") for split in splits}
    count = sum(map(len, sources.values()))
    begun = time.perf_counter()
    progress = tqdm(total=count, desc=f"decode {name}", unit="sentence", disable=None)
    with replaced_folder(Path("outputs", name)) as folder, progress:
        for split, sentences in sources.items():
            model = load_model(weights_for(split, Path("models", name)), row, bpe.size, device)
            outputs = translate(model, bpe, sentences, task.decoding, device, progress.update)
            write_sentences(folder / f"{split}.hypotheses", outputs)
    seconds = time.perf_counter() - begun
    speed = {"sentences": count, "seconds": seconds, "sentences_per_second": count / seconds}
    report = json.dumps({key: round(value, 2) for key, value in speed.items()}, indent=2)
    write_atomically(Path("circumstances", f"{name}.decode.json"), report + "\n")


if __name__ == "__main__":
    main()
