"""The parameters of the paper's scale."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aiayn import config
from aiayn.config import Config
from aiayn.config.compose import CONF, write_params


@pytest.fixture(scope="session")
def wmt14(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """conf/scale/wmt14.yaml, composed."""
    folder = tmp_path_factory.mktemp("wmt14")
    shutil.copytree(Path(__file__).parents[3] / CONF, folder / CONF)
    write_params(folder, "wmt14")
    return config.load(folder / config.PARAMS)
