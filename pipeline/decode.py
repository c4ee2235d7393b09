"""Decode by beam search, or classify: dev with the last checkpoint (section 6.2) and, if the run is
tested, the test sets with the averaged weights (section 6.1). Translations of dev are also decoded
with the averaged weights, by beam search and greedily. Reads models/RUN, data/bpe/TASK and
data/text/TASK; writes outputs/RUN/SPLIT.hypotheses, attention.json for a classifier, and
run_metadata/RUN.decode.json. Formats: predictions 1, illustrations 1, text 1."""

from __future__ import annotations

import argparse
import time

from tqdm import tqdm

from aiayn import config
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.decoding.outputs import Decoder
from aiayn.decoding.weights import parts, weights_in
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder
from aiayn.illustrations.attention import write_label_maps
from aiayn.launcher import exec_single_under_launcher
from aiayn.model.device import open_device
from aiayn.results import metadata, paths
from aiayn.results.metadata import DecodingMetadata
from aiayn.results.text import read_lines, write_lines


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    name = parser.parse_args().run
    exec_single_under_launcher()
    params = config.load()
    run, row = params.run(name), params.model_of(name)
    task, text = params.task(run.task), paths.text(run.task)
    # always float32: bfloat16 would change some outputs
    device = open_device(
        params.machine.device, "float32", d_model=row.d_model, threads=params.machine.threads
    )
    bpe = Bpe(paths.bpe_model(paths.vocabulary(run.task)))
    work = list(parts(task, params.splits_of(name)))
    sources = {p.split: read_lines(paths.lines(text, p.split, "source")) for p in work}
    count = sum(len(sources[part.split]) for part in work)
    begun = time.perf_counter()
    progress = tqdm(total=count, desc=f"decode {name}", unit="sentence", disable=None)
    with replaced_folder(paths.outputs(name)) as folder, progress:
        for part in work:
            weights = weights_in(paths.model(name), averaged=part.is_averaged)
            decoder = Decoder(weights, row, task, bpe, device)
            outputs = decoder.lines(sources[part.split], part.search, progress.update)
            write_lines(part.hypotheses(folder), outputs)
            maps = paths.attention(folder)
            write_label_maps(maps, decoder, name, run.task, sources[part.split], outputs)
    seconds = time.perf_counter() - begun
    speed = DecodingMetadata(
        sentences=count, seconds=round(seconds, 2), sentences_per_second=round(count / seconds, 2)
    )
    metadata.write(paths.decoding_metadata(name), speed)


if __name__ == "__main__":
    main()
