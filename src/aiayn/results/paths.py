"""Paths of the files between stages: every folder and file name of the graph.

A folder's path depends on its run or task and is relative to the scale's folder: the full path is
`root / paths.text(task)`. A file's path is computed from its folder, because a stage writes into a
temporary folder before it replaces the old one (files.replaced_folder).
"""

from __future__ import annotations

import glob
from pathlib import Path

LOCK = Path("dvc.lock")
# folder of all scales except the demo, whose folder is the project's top folder
SCALES = Path("scales")

DOWNLOADS = Path("data/raw")  # below the top folder, for all scales
SOURCES = Path("data/sources")
TEXTS = Path("data/text")
VOCABULARIES = Path("data/bpe")
TOKENS = Path("data/tokens")
MODELS = Path("models")
HISTORIES = Path("history")
METADATA = Path("run_metadata")
OUTPUTS = Path("outputs")
SCORES = Path("scores")
METRICS = Path("metrics")
PROFILES = Path("profiles")
COMPARISONS = Path("comparisons")
ILLUSTRATIONS = Path("illustrations")
REPORTS = Path("reports")
CURVES = Path("curves.csv")  # of all trainings, for dvc plots
SCRATCH = Path("scratch")
FAILURES = Path("logs/failures.json")
EXPORTS = Path("exports")
REPRODUCTIONS = Path("reproductions")
# the folders of a reproduction whose files are in dvc.lock
RECORDED = (HISTORIES, OUTPUTS, SCORES, METRICS, COMPARISONS, PROFILES, ILLUSTRATIONS)
# tracked files that `make params` and the pipeline write; they are committed separately
WRITTEN = (Path("params.yaml"), LOCK, METRICS, REPORTS, REPRODUCTIONS, SCALES)

LAYERS_PROFILE = PROFILES / "layers.json"
LAYERS_METADATA = METADATA / "profile_layers.json"  # times and memory
MODELS_PROFILE = PROFILES / "models.json"
TABLE_3 = COMPARISONS / "table_3.json"
SENTENCE_COUNTS = COMPARISONS / "sentences.csv.gz"
REPORT_TABLES = REPORTS / "tables"
REPORT_FIGURES = REPORTS / "figures"
REPORT_PAGE = REPORTS / "index.html"
REPORT_METADATA = REPORTS / "run_metadata.html"

SIDES = ("source", "target")
TREES = "trees"
TRAIN, DEV, TEST = "train", "dev", "test"
LAST, AVERAGED, GREEDY = "last", "averaged", "greedy"
DECODING_MODES = (LAST, AVERAGED, GREEDY)


def project(folder: Path = Path()) -> Path:
    """The project's top folder, relative to the working directory.

    Args:
        folder: the top folder itself, or a scale's.
    """
    top = folder / "../.."
    is_scale = folder.resolve().parent.name == SCALES.name and (top / "dvc.yaml").is_file()
    return top if is_scale else folder


def fetching(folder: Path, task: str) -> Path:
    """Progress of a task's downloads, in the folder of downloads; deleted when they are done."""
    return folder / f".{task}.progress.json"


def sources(task: str) -> Path:
    """The part of the catalogue that a task's text is made from."""
    return SOURCES / f"{task}.json"


def text(task: str) -> Path:
    """Folder of a task's text: the `lines` of every split, and a `manifest`."""
    return TEXTS / task


def lines(folder: Path, split: str, side: str) -> Path:
    """A side of a split: source or target; for dev and test sets of a parsing task also trees."""
    return folder / f"{split}.{side}"


def manifest(folder: Path) -> Path:
    """The contents and origin of a folder of text or of tokens."""
    return folder / "manifest.json"


def vocabulary(task: str) -> Path:
    """Folder of a task's vocabulary: `bpe_model` and `pieces`."""
    return VOCABULARIES / task


def bpe_model(folder: Path) -> Path:
    """The sentencepiece model."""
    return folder / "model.model"


def pieces(folder: Path) -> Path:
    """The pieces and their scores, one per line, for readers."""
    return folder / "vocabulary.tsv"


def tokens(task: str) -> Path:
    """Folder of a task's train and dev text as piece ids: `ids` and `offsets`, and a `manifest`."""
    return TOKENS / task


def ids(folder: Path, split: str, side: str) -> Path:
    """All piece ids of a side of a split, sentences concatenated."""
    return folder / f"{split}.{side}.npy"


def offsets(folder: Path, split: str, side: str) -> Path:
    """The index in `ids` at which each sentence begins."""
    return folder / f"{split}.{side}.offsets.npy"


def model(run: str) -> Path:
    """Folder of a run's weights: `checkpoints` and, if the run is tested, `averaged`."""
    return MODELS / run


def checkpoints(folder: Path) -> Path:
    """Folder of the last checkpoints, in the folder of a run's weights."""
    return folder / "checkpoints"


def checkpoint(folder: Path, step: int) -> Path:
    """The weights after `step` steps."""
    return folder / f"step-{step:07d}.safetensors"


def saved_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    return sorted(folder.glob("step-*.safetensors"), key=lambda path: (len(path.name), path.name))


def averaged(folder: Path) -> Path:
    """The mean of a run's last checkpoints, in the folder of its weights."""
    return folder / "averaged.safetensors"


def scratch(run: str, fingerprint: str) -> Path:
    """Folder of a training in progress: each `checkpoint` so far, and the state to `resume`."""
    return SCRATCH / f"{run}-{fingerprint[:16]}"


def scratches(run: str) -> Path:
    """A glob pattern for the scratch folders of a run, with any fingerprint."""
    return SCRATCH / (glob.escape(run) + "-" + "[0-9a-f]" * 16)


def progress(folder: Path) -> Path:
    """Progress of a training, in its scratch folder."""
    return folder / "progress.json"


def resume(folder: Path) -> Path:
    """The complete state of a training, in its scratch folder."""
    return folder / "resume.safetensors"


def history(run: str) -> Path:
    """A run's training curve."""
    return HISTORIES / f"{run}.csv"


def training_metadata(run: str) -> Path:
    """When, where and how fast a run was trained."""
    return METADATA / f"{run}.train.json"


def decoding_metadata(run: str) -> Path:
    """How fast a run was decoded."""
    return METADATA / f"{run}.decode.json"


def outputs(run: str) -> Path:
    """Folder of a run's outputs for the dev and test sets: `hypotheses`."""
    return OUTPUTS / run


def hypotheses(folder: Path, split: str) -> Path:
    """A run's outputs for a split, one line per sentence."""
    return folder / f"{split}.hypotheses"


def dev_hypotheses(folder: Path, mode: str) -> Path:
    """A run's outputs for dev in one of DECODING_MODES: the last checkpoint with beam search, the
    averaged weights with beam search, or the averaged weights with greedy decoding."""
    return hypotheses(folder, DEV if mode == LAST else f"{DEV}.{mode}")


def scores(run: str) -> Path:
    """A run's scores on its splits, with signatures and intervals."""
    return SCORES / f"{run}.json"


def metrics(run: str) -> Path:
    """A run's main metrics, for `dvc metrics show`."""
    return METRICS / f"{run}.json"


def export(run: str, engine: str) -> Path:
    """Folder of a run exported to another inference engine."""
    return EXPORTS / f"{run}.{engine}"


def card(folder: Path) -> Path:
    """The README of an exported run or of a reproduction."""
    return folder / "README.md"


def illustration(folder: Path, table: str) -> Path:
    """A table of numbers to plot, in the folder of illustrations."""
    return folder / f"{table}.csv"


def attention(folder: Path) -> Path:
    """Attention maps of one sentence, in the folder of illustrations."""
    return folder / "attention.json"
