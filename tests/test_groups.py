"""The tests of a file run in the same process, so that shared fixtures are made once."""

from __future__ import annotations

import pytest


def test_a_file_is_a_group(request: pytest.FixtureRequest) -> None:
    """pytest-xdist reads the group from the end of the name; with pytest 9.2 it silently lost it."""
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("tests are not spread over processes by their groups")
    assert request.node.nodeid.endswith(f"@{__file__}")
