"""The documentation as a site, by Sphinx: `make docs`, then open site/index.html.

Sphinx rather than MkDocs, whose development has stopped. The pages are the Markdown files of the
repository, at their own paths; what they link to beside them, such as reports, parameters and code,
is copied to its own path too. Nothing is loaded from elsewhere: the theme brings its scripts, and
formulas become MathML.
"""

from __future__ import annotations

import posixpath
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[1]

project = "aiayn"
author = "the aiayn maintainers"
root_doc = "README"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = [
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**.md", "reproductions/README.md",
    "reproductions/*/README.md", "benchmarks/results/*.md", "src/aiayn/shipped/README.md",
]  # fmt: skip
exclude_patterns = [".*", "data", "models", "scratch", "scales", "site", "mlruns", "outputs"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "code"
autodoc_default_options = {"exclude-members": "model_config"}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
html_theme = "furo"
html_title = "aiayn"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"

# the tables that are rendered begin at the second level; code blocks without a language are plain
suppress_warnings = ["myst.header"]
highlight_language = "text"

REPRODUCTIONS = sorted(path.parent.name for path in ROOT.glob("reproductions/[!.]*/README.md"))
NAVIGATION = {
    "Understand": [
        "docs/explorer", "docs/paper_map", "docs/tour/README", "docs/tour/en/*", "docs/tour/zh/*",
    ],
    "Change and use": [
        "docs/change", "docs/howto/run", "docs/howto/use", "docs/howto/share", "docs/howto/publish",
        "docs/export",
        "src/aiayn/shipped/README",
    ],
    "WMT14": ["docs/wmt14", "docs/scale_out"],
    "Judge": [
        "docs/results", "reproductions/README",
        *(f"{name} </reproductions/{name}/README>" for name in REPRODUCTIONS),
        "docs/deviations", "docs/preregistration",
    ],
    "Reference": [
        "docs/api", "docs/decisions/*", "docs/diary/*", "benchmarks/results/*", "CONTRIBUTING",
        "CHANGELOG",
    ],
}  # fmt: skip

# linked or shown by HTML, which Sphinx does not read
copied = {ROOT / "docs/figures", ROOT / "docs/tour/figures", ROOT / "reports"}


# the page of `make explorer`, which needs node, where it has been made
EXPLORER = ROOT / "explorer/build/index.html"


def add_explorer(_: Sphinx, name: str, source: list[str]) -> None:
    """Begin the page about it with a link to it, and with none where it has not been made."""
    if name == "docs/explorer" and EXPLORER.exists():
        title, _, text = source[0].partition("\n\n")
        source[0] = f'{title}\n\n<p><a href="../explorer/index.html">Open it</a></p>\n\n{text}'


def add_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    """Add the contents to the first page, which the repository shows without them."""
    if name == root_doc:
        for caption, pages in NAVIGATION.items():
            there = [page for page in pages if " <" in page or any(ROOT.glob(f"{page}.md"))]
            lines = "\n".join(page if " <" in page else f"/{page}" for page in there)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n{lines}\n```\n"


class LinkedFiles(SphinxTransform):
    """Links to files that are no pages lead to copies at the files' own paths."""

    default_priority = 10

    def apply(self, **_: Any) -> None:
        folder = posixpath.dirname(self.env.docname)
        for link in list(self.document.findall(addnodes.download_reference)):
            file = (ROOT / folder / link["reftarget"]).resolve()
            # a report is a folder: its page, tables and figures
            copied.add(file.parent if file.name == "index.html" else file)
            link.replace_self(nodes.reference("", "", *link.children, refuri=link["reftarget"]))


def copy_files(app: Sphinx, error: Exception | None) -> None:
    """Copy what the pages link to, and lead from the site's folder to its first page."""
    if error:
        return
    for path in sorted(copied):
        target = Path(app.outdir) / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target, dirs_exist_ok=True)
        else:
            shutil.copy(path, target)
    if EXPLORER.exists():
        target = Path(app.outdir) / "explorer"
        target.mkdir(exist_ok=True)
        shutil.copy(EXPLORER, target)
    index = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html">'
    (Path(app.outdir) / "index.html").write_text(f"{index}<title>{project}</title>\n")


def define_terms(app: Sphinx, what: str, name: str, it: object, _: Any, lines: list[str]) -> None:
    """Turn the tables of two columns of our docstrings into lists of definitions."""
    shown: list[str] = []
    is_table = False
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if set(after) == set("-| "):  # the heading
            continue
        if set(line) == set("-| "):
            is_table = True
        elif not is_table or not line:
            is_table = False
            shown.append(line)
        elif line.startswith(" "):
            shown[-1] += f" {line.strip()}"
        else:
            term, _, meaning = line.partition(" | ")
            shown += [term, f"    {meaning}"]
    lines[:] = shown


def formula(translator: Any, node: nodes.Element) -> None:
    """A formula as MathML, which browsers show without a script."""
    is_block = isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(node.astext(), as_block=is_block))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the above with Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("source-read", add_explorer)
    app.connect("build-finished", copy_files)
    app.connect("autodoc-process-docstring", define_terms, priority=400)  # before napoleon
    app.add_transform(LinkedFiles)
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    return {"parallel_read_safe": False}
