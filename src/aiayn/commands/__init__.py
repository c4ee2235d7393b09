"""The command `aiayn` and its subcommands."""

from aiayn.commands.command_line import main

__all__ = ["main"]
