"""The parameters of the paper's scales."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn import config
from aiayn.config import Config
from aiayn.config.compose import CONF, write_params


@pytest.fixture(scope="session")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Config]:
    """The parameters of a scale."""
    folder = tmp_path_factory.mktemp("composed")
    shutil.copytree(Path(__file__).parents[3] / CONF, folder / CONF)

    def compose(scale: str) -> Config:
        write_params(folder, scale)
        return config.load(folder / config.PARAMS)

    return compose


@pytest.fixture(scope="session")
def wmt14(composed: Callable[[str], Config]) -> Config:
    """The parameters of table 2's scale."""
    return composed("wmt14")
