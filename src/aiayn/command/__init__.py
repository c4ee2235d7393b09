"""The command `aiayn`: use the trained runs of a project from the shell, in its folder."""

from aiayn.command.dispatch import main

__all__ = ["main"]
