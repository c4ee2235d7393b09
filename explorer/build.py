"""Put the page together: its text, style and program, the runtime, and the model that comes with
the package, as exported by `aiayn export shipped --to onnx`. One file, which needs no server.
`make explorer` runs this."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from pathlib import Path

import sentencepiece
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from safetensors import safe_open

import aiayn
from aiayn import config
from aiayn.data.tokens.special import END
from aiayn.files import write_atomically
from aiayn.results import paths

HERE = Path(__file__).parent
BUILD = HERE / "build"
RUNTIME = HERE / "node_modules/onnxruntime-web"


def main() -> None:
    """Write build/index.html."""
    run, root = aiayn.place(aiayn.SHIPPED)
    params = config.load(root / config.PARAMS)
    row, search = params.model_of(run), params.task_of(run).search
    weights = root / paths.averaged(paths.model(run))
    exported = BUILD / paths.export(aiayn.SHIPPED, "onnx")
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=str(paths.bpe_model(exported)))
    pieces = range(vocabulary.get_piece_size())
    # byte-pair encoding joins by score, the page's by id
    scores = [vocabulary.get_score(n) for n in pieces if n > END and not vocabulary.is_byte(n)]
    assert scores == sorted(scores, reverse=True)
    assert row.positions == "sinusoid"
    settings = {
        "beam": search.beam,
        "alpha": search.alpha,
        "extraLength": search.extra_length,
        "shape": [row.N, row.h, row.d_k, row.d_v],
        "width": row.d_model,
        "pieces": [vocabulary.id_to_piece(n) for n in pieces],
    }
    templates = Environment(
        loader=FileSystemLoader(HERE), autoescape=False, undefined=StrictUndefined
    )
    style = templates.get_template("style.css").render(heads=row.h)
    script = (BUILD / "main.js").read_text(encoding="utf-8")
    page = templates.get_template("page.html").render(
        policy=_policy(script, style),
        style=style,
        script=script,
        settings=json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c"),
        embedded={
            "runtime": _packed(RUNTIME / "dist/ort-wasm-simd-threaded.wasm"),
            "encoder": _packed(exported / "encoder.onnx"),
            "decoder": _packed(exported / "decoder.onnx"),
        },
        layers=row.N,
        heads=row.h,
        parameters=f"{_parameters(weights) / 1e6:.1f}",
        vocabulary=f"{len(pieces):,}",
        beam=search.beam,
        alpha=search.alpha,
        runtime=json.loads((RUNTIME / "package.json").read_text())["version"],
    )
    write_atomically(BUILD / "index.html", page)


def _packed(path: Path) -> str:
    """As text that the page unpacks; the same for the same content."""
    return base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode()


def _policy(script: str, style: str) -> str:
    """Nothing but this very script and style; no connection to anywhere."""
    own = {
        kind: f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for kind, text in (("script", script), ("style", style))
    }
    return (
        f"default-src 'none'; script-src {own['script']} 'wasm-unsafe-eval'; "
        f"style-src {own['style']}; base-uri 'none'; form-action 'none'"
    )


def _parameters(weights: Path) -> int:
    with safe_open(weights, framework="numpy") as tensors:
        names = tensors.keys()
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in names)


if __name__ == "__main__":
    main()
