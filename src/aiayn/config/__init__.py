"""The parameters in force, typed and frozen; read from params.yaml and validated once, at the door.

Every complaint names the key, the file and, where one is near, the name that was probably meant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from aiayn.config.corpora import (
    Catalogue,
    Corpus,
    Download,
    Folds,
    Grammar,
    Labelled,
    Sequences,
    Side,
    Treebank,
)
from aiayn.config.given import given
from aiayn.config.machine import Launcher, Machine
from aiayn.config.model import Model, spelled_out
from aiayn.config.profiling import Grid, LayerSizes, Profiling
from aiayn.config.schema import Config, Illustrations, Run, Variations
from aiayn.config.task import Bpe, Cleaning, Decoding, Kind, Task, Text
from aiayn.config.training import Adam, Training
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
    "Folds",
    "Grammar",
    "Grid",
    "Illustrations",
    "Kind",
    "Labelled",
    "Launcher",
    "LayerSizes",
    "Machine",
    "Model",
    "Profiling",
    "Run",
    "Sequences",
    "Side",
    "Task",
    "Text",
    "Training",
    "Treebank",
    "Variations",
    "load",
    "load_for",
    "parse",
    "read_yaml",
]

PARAMS = Path("params.yaml")


def load_for(stage: str, item: str = "", path: Path = PARAMS) -> Config:
    """Read and validate `path`; of it, what the dvc.yaml beside it lists for a stage.

    Args:
        item: the task or the run, where there is one stage for each.
    Raises:
        ConfigError: as `load`; or there is no such task or run, or no dvc.yaml.
    """
    return given(load(path), path.with_name("dvc.yaml"), stage, item)


def load(path: Path = PARAMS) -> Config:
    """Read and validate `path`, all of it: for what only watches, or is no stage.

    Raises:
        ConfigError: the file is missing or is not YAML, a key is unknown, missing or of the wrong
            type, or two parameters contradict each other.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}. Run from the project's folder, or compose it: make params."
        ) from error
    try:
        return parse(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse(content: bytes) -> Config:
    """Validate what is, or is to be, the content of params.yaml.

    Raises:
        ConfigError: as `load`, but for the file, which has no name here.
    """
    data = read_yaml(content)
    try:
        config: Config = build(Config, _spelled_out(data), noun="parameter")
    except MismatchError as error:
        raise ConfigError(str(error)) from None
    config.check()
    return config


def read_yaml(content: bytes) -> Any:
    """Plain data. Raises ConfigError: it is not YAML, or holds more than plain data."""
    try:
        return yaml.load(content, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        complaint = " ".join(str(error).split()).replace('in "<byte string>", ', "")
        raise ConfigError(f"not YAML: {complaint}.") from error
    except (ValueError, RecursionError) as error:  # a date or a number that is none
        raise ConfigError(f"not YAML: {error}.") from error


def _spelled_out(data: Any) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get("models"), dict):
        return data
    models = data["models"].items()
    return data | {"models": {name: spelled_out(row, f"models.{name}") for name, row in models}}
