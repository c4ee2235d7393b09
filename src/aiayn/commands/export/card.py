"""The model card of an exported run: README.md with the fields that model hubs read."""

from __future__ import annotations

from pathlib import Path

from aiayn.commands.export.search import PATIENCE
from aiayn.commands.export.trial import Exported


def card(held: Exported) -> str:
    """What the folder holds, how good it is there, how it is used, what it was trained on."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # Markdown
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    downloads = held.manifest.downloads.values()
    licences = dict.fromkeys(str(download["licence"]) for download in downloads)
    return environment.get_template("card.md").render(
        held=held, licences=licences, patience=PATIENCE
    )
