"""The command `aiayn`: use the trained runs of a project from the shell, in its folder."""

from aiayn.commands.dispatch import main

__all__ = ["main"]
