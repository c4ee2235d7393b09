"""The parameters, typed and frozen: read from params.yaml and validated once.

Every error names the file, the key and, for a misspelled name, the closest known one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from aiayn.config.corpora import (
    Catalogue,
    Corpus,
    Download,
    Folds,
    Grammar,
    Labelled,
    Sample,
    Sequences,
    Side,
    Treebank,
)
from aiayn.config.machine import Launcher, Machine
from aiayn.config.model import Model
from aiayn.config.parameters import Config, Run, Variations
from aiayn.config.profiling import LayerSizes, Profiling
from aiayn.config.task import Bpe, Cleaning, Decoding, Kind, Task, Text
from aiayn.config.training import Adam, Training
from aiayn.errors import ConfigError
from aiayn.validation import message

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
    "Folds",
    "Grammar",
    "Kind",
    "Labelled",
    "Launcher",
    "LayerSizes",
    "Machine",
    "Model",
    "Profiling",
    "Run",
    "Sample",
    "Sequences",
    "Side",
    "Task",
    "Text",
    "Training",
    "Treebank",
    "Variations",
    "load",
    "parse",
    "read_yaml",
]

PARAMS = Path("params.yaml")


def load(path: Path = PARAMS) -> Config:
    """Read and validate `path`.

    Raises:
        ConfigError: the file is missing or is not YAML; a key is unknown, missing or of the wrong
            type; or two parameters contradict each other.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}. Run from the project's folder, or create it: make params."
        ) from error
    try:
        return parse(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse(content: bytes) -> Config:
    """Validate the content of params.yaml.

    Raises:
        ConfigError: as `load`, without the file's name in the message.
    """
    try:
        return Config.model_validate(read_yaml(content))
    except ValidationError as error:
        raise ConfigError(message(error)) from None


def read_yaml(content: bytes) -> Any:
    """Plain data. Raises ConfigError: it is not YAML, or has tags other than plain data."""
    try:
        return yaml.load(content, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split()).replace('in "<byte string>", ', "")
        raise ConfigError(f"not YAML: {reason}.") from error
    except (ValueError, RecursionError) as error:  # such as an invalid date or number
        raise ConfigError(f"not YAML: {error}.") from error
