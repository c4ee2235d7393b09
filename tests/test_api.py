"""The public Python API: stable names, and results without weights or torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import aiayn
from aiayn.commands import main
from aiayn.errors import ConfigError, DataError


def test_the_public_names() -> None:
    assert aiayn.__all__ == ["SHIPPED", "load", "read_results", "reproduction"]


def test_every_public_component_has_a_docstring() -> None:
    from aiayn import components

    assert len(components.__all__) == len(set(components.__all__))
    for name in components.__all__:
        component = getattr(components, name)
        if callable(component):
            assert component.__doc__, name
            assert component.__module__.startswith("aiayn."), name


def test_the_shipped_model_needs_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outside any project, with a plot of its attention."""
    monkeypatch.chdir(tmp_path)
    sentences = ["Where is the station?", "The dog sleeps."]
    main(["translate", aiayn.SHIPPED, *sentences, "--attention", "attention.svg"])
    assert capsys.readouterr().out.splitlines() == ["Wo ist der Bahnhof?", "Der Hund schläft."]
    assert b"Bahnhof" in (tmp_path / "attention.svg").read_bytes()


def test_a_single_string_is_no_list_of_sentences() -> None:
    """Its characters would be translated one by one."""
    run = aiayn.load(aiayn.SHIPPED)
    for use in (run.translate, run.hypotheses):
        with pytest.raises(DataError) as refused:
            use("The dog sleeps.")
        assert str(refused.value) == "sentences must be a list: ['The dog sleeps.']"


def test_a_figure_in_an_interpreter_is_its_caption() -> None:
    """A notebook shows the picture; the SVG's text would fill hundreds of lines."""
    figure = aiayn.reproduction("multi30k_table3").figures()["training_en-de"]
    assert figure.caption in repr(figure)
    assert len(repr(figure)) < 1000 < len(figure.svg)


def test_published_results_are_read_without_torch(root: Path) -> None:
    code = (
        "import sys, aiayn; from aiayn.results.schemas import SCHEMAS\n"
        "results = aiayn.read_results(sys.argv[1])\n"
        "print({name: len(getattr(results, name)) > 0 for name in SCHEMAS}, 'torch' in sys.modules)"
    )
    folder = root / "reproductions/multi30k_table3"
    completed = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    frames, _, torch = completed.stdout.strip().rpartition(" ")
    assert "False" not in frames
    assert torch == "False"


@pytest.mark.slow
def test_hypotheses_and_attention_as_frames() -> None:
    run = aiayn.load(aiayn.SHIPPED)
    sentences = ["Where is the station?", "", "The dog sleeps."]
    found = run.hypotheses(sentences, n_best=3, beam=5, alpha=1.0)
    assert found["sentence"].tolist() == [0, 0, 0, 2, 2, 2]
    assert found["rank"].tolist() == [1, 2, 3] * 2
    assert found.query("rank == 1")["text"].tolist() == [t for t in run.translate(sentences) if t]
    assert (found.groupby("sentence")["score"].diff().dropna() <= 0).all()
    # alpha is 1, so the penalty is linear in the length, which counts the end
    penalties = (found["log_probability"] / found["score"]).tolist()
    assert penalties == pytest.approx(((5 + found["pieces"] + 1) / 6).tolist())
    figure = run.attention_figure(sentences[0])
    assert figure._repr_svg_() == figure.svg
    sums = figure.data.groupby(["layer", "head", "query"])["weight"].sum()
    assert sums.to_numpy() == pytest.approx(1, abs=0.01)
    head = run.attention_figure(sentences[0], layer=3, head=5)
    assert len(head.data) == head.svg.count("<title>") == len(figure.data) / (3 * 6)
    assert "<title>der → station: 0." in head.svg
    with pytest.raises(
        ConfigError, match="layer 4, head 1: en-de.base has layers 1 to 3 and heads"
    ):
        run.attention_figure(sentences[0], layer=4, head=1)
    for n in (0, 6):
        with pytest.raises(
            ConfigError, match=f"^n_best is {n}; it must be from 1 to the beam size, 5.$"
        ):
            run.hypotheses(sentences, n_best=n, beam=5)
    with pytest.raises(ConfigError, match="has no attention of kind 'self'. Use: encoder, dec"):
        run.attention_figure(sentences[0], "self")


@pytest.mark.slow
def test_a_published_reproduction_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    published = aiayn.reproduction("multi30k_tiny")
    ours = published.table(2).set_index("Model").loc["ours (tiny)"]
    score = published.scores.query("run == 'en-fr.tiny' and split == 'test'")["value"].item()
    assert ours["EN-FR BLEU"].startswith(f"{score:.2f} (Lower-cased BLEU")
    curves = published.figures()["training_en-fr"]
    assert curves.svg.startswith("<?xml")
    assert set(curves.data["run"]) == {"en-fr.tiny"}
    with pytest.raises(ConfigError, match="has no section 'table_5'. Did you mean table_"):
        published.table(5)
    with pytest.raises(ConfigError, match="no reproduction 'multi30k_tin'. Did you mean multi30k_"):
        aiayn.reproduction("multi30k_tin")
