"""Paths of the files that one stage leaves for another: every folder and file name of the graph.

A folder's path follows from its run or task, below that of the project: `root / paths.text(task)`
is the whole path. A file's path is given within its folder, because a stage fills a new folder
beside the old one before it replaces that (files.replaced_folder).
"""

from __future__ import annotations

import glob
from pathlib import Path

LOCK = Path("dvc.lock")
# every scale but the demo, whose folder is the project's top folder, has a folder of its own here
SCALES = Path("scales")

DOWNLOADS = Path("data/raw")  # below the top folder, for all scales
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
# what make params and the graph write among the files that git follows; each is published by itself
WRITTEN = (Path("params.yaml"), LOCK, REPORTS, REPRODUCTIONS, SCALES)

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
    """How far the downloads of a task are, in the folder of downloads; gone when they are done."""
    return folder / f".{task}.progress.json"


def text(task: str) -> Path:
    """Folder of a task's text: `lines` of every split, and a `manifest`."""
    return TEXTS / task


def lines(folder: Path, split: str, side: str) -> Path:
    """A side of a split: source or target; of a parsing task's dev and test sets also trees."""
    return folder / f"{split}.{side}"


def manifest(folder: Path) -> Path:
    """What a folder of text, or of tokens, holds and where it came from."""
    return folder / "manifest.json"


def vocabulary(task: str) -> Path:
    """Folder of a task's vocabulary: `bpe_model` and `pieces`."""
    return VOCABULARIES / task


def bpe_model(folder: Path) -> Path:
    """sentencepiece's model."""
    return folder / "model.model"


def pieces(folder: Path) -> Path:
    """Piece and score, a line each, for people."""
    return folder / "vocabulary.tsv"


def tokens(task: str) -> Path:
    """Folder of a task's train and dev text as piece ids: `ids` and `offsets`, and a `manifest`."""
    return TOKENS / task


def ids(folder: Path, split: str, side: str) -> Path:
    """All piece ids of a side of a split, one sentence after the other."""
    return folder / f"{split}.{side}.npy"


def offsets(folder: Path, split: str, side: str) -> Path:
    """Where each sentence begins among the `ids`."""
    return folder / f"{split}.{side}.offsets.npy"


def model(run: str) -> Path:
    """Folder of a run's weights: `checkpoints` and, if the run is tested, `averaged`."""
    return MODELS / run


def checkpoints(folder: Path) -> Path:
    """Folder of the last checkpoints, in that of a run's weights."""
    return folder / "checkpoints"


def checkpoint(folder: Path, step: int) -> Path:
    """The weights after `step` steps; names sort by step."""
    return folder / f"step-{step:07d}.safetensors"


def saved_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints that a folder holds, oldest first."""
    return sorted(folder.glob("step-*.safetensors"))


def averaged(folder: Path) -> Path:
    """The mean of a run's last checkpoints, in the folder of its weights."""
    return folder / "averaged.safetensors"


def scratch(run: str, fingerprint: str) -> Path:
    """Folder of a training in progress: each `checkpoint` so far, and where to `resume`."""
    return SCRATCH / f"{run}-{fingerprint[:16]}"


def scratches(run: str) -> Path:
    """A pattern: the scratch folders of a run, of whatever fingerprint."""
    return SCRATCH / (glob.escape(run) + "-" + "[0-9a-f]" * 16)


def progress(folder: Path) -> Path:
    """How far a training is, in its scratch folder."""
    return folder / "progress.json"


def resume(folder: Path) -> Path:
    """Everything that the next step of a training depends on."""
    return folder / "resume.safetensors"


def history(run: str) -> Path:
    """A run's training curve."""
    return HISTORIES / f"{run}.csv"


def training_metadata(run: str) -> Path:
    """When, where and how fast a run was trained."""
    return METADATA / f"{run}.train.json"


def decoding_metadata(run: str) -> Path:
    """How fast a run translated."""
    return METADATA / f"{run}.decode.json"


def outputs(run: str) -> Path:
    """Folder of what a run made of the dev and test sets: `hypotheses`."""
    return OUTPUTS / run


def hypotheses(folder: Path, split: str) -> Path:
    """What a run made of a split, a line for each of its sentences."""
    return folder / f"{split}.hypotheses"


def dev_hypotheses(folder: Path, mode: str) -> Path:
    """What a run made of dev in one of DECODING_MODES: by its last checkpoint, as `hypotheses`; by
    the mean of the last ones; by this mean, always taking the likeliest piece."""
    return hypotheses(folder, DEV if mode == LAST else f"{DEV}.{mode}")


def scores(run: str) -> Path:
    """A run's scores on its splits, with signatures and intervals."""
    return SCORES / f"{run}.json"


def metrics(run: str) -> Path:
    """The few numbers that runs are compared by, for `dvc metrics show`."""
    return METRICS / f"{run}.json"


def export(run: str, engine: str) -> Path:
    """Folder of a run in the format of another engine."""
    return EXPORTS / f"{run}.{engine}"


def card(folder: Path) -> Path:
    """What a folder is, an exported run's or a reproduction's, in the folder."""
    return folder / "README.md"


def illustration(folder: Path, table: str) -> Path:
    """A table of numbers to draw, in the folder of illustrations."""
    return folder / f"{table}.csv"


def attention(folder: Path) -> Path:
    """Attention maps of one sentence, in the folder of illustrations."""
    return folder / "attention.json"
