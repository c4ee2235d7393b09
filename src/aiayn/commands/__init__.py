"""The command `aiayn`, and what its subcommands do."""

from aiayn.commands.command_line import main

__all__ = ["main"]
