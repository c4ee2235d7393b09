"""The parameters in force, typed and frozen; read from params.yaml and validated once, at the door.

Every complaint names the key, the file and, where one is near, the name that was probably meant.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from aiayn.config.checks import check
from aiayn.config.schema import (
    Adam,
    Bpe,
    Catalogue,
    Cleaning,
    Config,
    Corpus,
    Decoding,
    Download,
    Grammar,
    Grid,
    Illustrations,
    LayerSizes,
    Model,
    Profiling,
    Run,
    Side,
    Task,
    Text,
    Training,
    Treebank,
    Variations,
)
from aiayn.errors import ConfigError
from aiayn.typed import MismatchError, build

__all__ = [
    "PARAMS",
    "Adam",
    "Bpe",
    "Catalogue",
    "Cleaning",
    "Config",
    "Corpus",
    "Decoding",
    "Download",
    "Grammar",
    "Grid",
    "Illustrations",
    "LayerSizes",
    "Model",
    "Profiling",
    "Run",
    "Side",
    "Task",
    "Text",
    "Training",
    "Treebank",
    "Variations",
    "load",
]

PARAMS = Path("params.yaml")


def load(path: Path = PARAMS) -> Config:
    """Read and validate `path`.

    Raises:
        ConfigError: the file is missing or is not YAML, a key is unknown, missing or of the wrong
            type, or two parameters contradict each other.
    """
    try:
        data = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}. Run from the project's folder, or compose it: make params."
        ) from error
    except yaml.YAMLError as error:
        complaint = " ".join(str(error).split()).replace('in "<byte string>", ', "")
        raise ConfigError(f"{path}: not YAML: {complaint}.") from error
    try:
        config: Config = build(Config, data, noun="parameter")
        check(config)
    except (ConfigError, MismatchError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return config
