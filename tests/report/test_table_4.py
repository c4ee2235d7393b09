"""Table 4 over hand-made scores, and parses drawn from a hand-made run."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.errors import DataError
from aiayn.evaluation.bracket_metrics import BRACKET_METRICS
from aiayn.paper import PAPER
from aiayn.report.evidence import Evidence, Scores
from aiayn.report.parse_trees import read_parses, tree_figures
from aiayn.report.section import Section
from aiayn.report.table_4 import section
from aiayn.report.tables import csv_text, latex, markdown
from aiayn.report.verdict import Verdict
from aiayn.results.scores import read
from aiayn.results.text import RAW, Manifest, Part, Split

NAMES = [metric.name for metric in BRACKET_METRICS]
RUN = "parsing.parser"
SIDES = {"source": "1e" * 32, "target": "2f" * 32}
TREES = Split(
    corpora={"wsj-02-21": Part(pairs=39_832, kept=39_832, dropped={})},
    pairs=39_832, words={"source": 1, "target": 1}, sha256=SIDES,
)  # fmt: skip
MANIFESTS = {
    task: Manifest(
        task=task, languages={"source": "en", "target": "tree"}, form=RAW, cleaning={}, downloads={},
        splits={"train": TREES},
    )
    for task in ("parsing", "parsing-semi")
}  # fmt: skip
Load = Callable[[dict[str, Any]], Config]


@pytest.fixture
def wsj(wmt14: dict[str, Any]) -> dict[str, Any]:
    """Parameters under which the WSJ-only row may be judged."""
    data = copy.deepcopy(wmt14)
    task = copy.deepcopy(data["tasks"]["en-de"])
    names = ("wsj-02-21", "wsj-22", "wsj-23", "machine-parsed")
    bank = {"treebank": {"folder": "AIAYN_TREEBANK", "files": ["*.mrg"]}}
    data["catalogue"]["corpora"] |= {name: dict(bank) for name in names}
    task["text"] |= {
        "leaves": "tags", "target": "tree", "train": ["wsj-02-21"], "dev": "wsj-22",
        "tests": {"test": "wsj-23"},
    }  # fmt: skip
    task |= {"kind": "parsing", "decoding": {"beam": 21, "alpha": 0.3, "extra_length": 300}}
    task["bpe"]["symbols"] = "target"
    task["bpe"]["vocabulary"] = 16000
    semi = copy.deepcopy(task)
    semi["bpe"]["vocabulary"] = 32000
    semi["text"]["train"] = ["wsj-02-21", "machine-parsed"]
    data["tasks"] |= {"parsing": task, "parsing-semi": semi}
    data["models"]["parser"] = {**data["models"]["base"], "N": 4, "d_model": 1024}
    data["runs"][RUN] = {"task": "parsing", "model": "parser", "seed": 1}
    data["runs"]["parsing-semi.parser"] = {"task": "parsing-semi", "model": "parser", "seed": 1}
    return data


def scored(folder: Path, f1: float, pairs: int = 2416, corpus: str = "wsj-23") -> Scores:
    """Scores of the parsing runs, through files; the translations were not run."""
    entry = {
        "set": {
            "corpora": {corpus: {"pairs": pairs}},
            "pairs": pairs,
            "sha256": {"trees": "5a" * 32},
        },
        "counts": {"sentences": pairs, "repaired": 17, "skipped": 1},
        "lengths": {"1-10": {"sentences": 9, "f1": 95.5}, "61+": {"sentences": 2, "f1": 70.25}},
    }
    entry |= {
        name: {"value": f1 - n, "low": f1 - n - 1, "high": f1 - n + 1, "signature": "hand-made"}
        for n, name in enumerate(NAMES)
    }
    path = folder / f"{RUN}.json"
    about = {"run": RUN, "task": "parsing", "model": "parser"}
    path.write_text(json.dumps({**about, "splits": {"test": entry}}))
    return {
        RUN: read(path).splits,
        "parsing-semi.parser": read(path).splits,
        "en-de.base": None,
    }


def section_of(load: Load, params: dict[str, Any], scores: Scores) -> Section:
    return section(
        Evidence(
            root=Path("nothing-there"), config=load(params), paper=PAPER, scores=scores,
            histories={}, manifests=MANIFESTS, layers=None, models=None, variations=None,
        )
    )  # fmt: skip


def verdicts(section: Section) -> list[tuple[Verdict, tuple[str, ...]]]:
    return [(entry.verdict, entry.reasons) for entry in section.entries]


NOT_PUBLIC = (
    "the high-confidence corpus is not public",
    "the BerkeleyParser corpus is not public",
    "trained on 39,832 pairs, not on about 17M (section 6.3)",
)


def test_section_23_of_a_licensed_treebank_is_judged(
    load: Load, wsj: dict[str, Any], tmp_path: Path
) -> None:
    found = section_of(load, wsj, scored(tmp_path, 91.0))
    # the semi-supervised corpora are not public, so that row never is
    assert verdicts(found) == [
        (Verdict.REPRODUCED, ()),
        (Verdict.OTHER_RECIPE, NOT_PUBLIC),
    ]
    (ours,) = [f.ours for f in found.entries if f.ours]
    assert (ours.text, ours.detail, ours.run) == ("91.00", "90.00–92.00", RUN)
    assert ours.sources[0] == f"{RUN}.json:test.bracket_f1.value"
    assert verdicts(section_of(load, wsj, scored(tmp_path, 89.0)))[0] == (Verdict.DIFFERS, ())


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("models/parser/N", 6, "N is 6, not 4 (section 6.3)"),
        ("models/parser/d_model", 512, "d_model is 512, not 1024 (section 6.3)"),
        ("tasks/parsing/decoding/beam", 4, "beam is 4, not 21 (section 6.3)"),
        ("tasks/parsing/decoding/alpha", 0.6, "alpha is 0.6, not 0.3 (section 6.3)"),
        ("training/warmup_steps", 16000, "warmup_steps is 16000, not 4000 (section 5.3)"),
        ("models/parser/h", 16, "h is 16, not 8 (section 6.3: as in base)"),
        ("tasks/parsing/bpe/vocabulary", 32000, "vocabulary is 32000, not 16K (section 6.3)"),
    ],
)
def test_a_departure_is_no_verdict(
    load: Load, wsj: dict[str, Any], tmp_path: Path, path: str, value: Any, reason: str
) -> None:
    *keys, last = path.split("/")
    parent = wsj
    for key in keys:
        parent = parent[key]
    parent[last] = value
    assert verdicts(section_of(load, wsj, scored(tmp_path, 91.3)))[0] == (
        Verdict.OTHER_RECIPE,
        (reason,),
    )


def test_another_test_set_is_no_verdict(load: Load, wsj: dict[str, Any], tmp_path: Path) -> None:
    found = section_of(load, wsj, scored(tmp_path, 91.3, 245, "treebank-sample-test"))
    verdict, reasons = verdicts(found)[0]
    assert verdict is Verdict.NOT_RUN
    assert "scored on treebank-sample-test, not on wsj-23" in reasons
    assert found.entries[0].ours is None
    ours = [row.cells[2] for row in found.tables[0].rows if row.tone == "ours"]
    shown = [(cell.text, cell.detail, cell.tone) for cell in ours]
    assert shown == [("91.30", "on treebank-sample-test", "quiet")] * 2


def test_everything_printed_and_measured_is_in_tables_and_records(
    load: Load, wsj: dict[str, Any], tmp_path: Path
) -> None:
    found = section_of(load, wsj, scored(tmp_path, 91.0))
    printed, measured = found.tables
    assert [row.cells[2].text for row in printed.rows if row.tone != "ours"] == [
        "88.3", "90.4", "90.4", "91.7", "91.3", "91.3", "91.3", "92.1", "92.1", "92.7", "93.0", "93.3",
    ]  # fmt: skip
    first, *_, second = (row.cells[2] for row in printed.rows if row.tone == "ours")
    assert (first.text, first.detail, first.tone) == ("91.00", "reproduced", "reproduced")
    assert (second.detail, second.tone) == ("on wsj-23", "quiet")
    cells = measured.rows[0].cells
    assert [cell.text for cell in cells[2:]] == [
        "2,416", "91.00", "90.00", "89.00", "88.00", "87.00", "86.00", "17", "1",
    ]  # fmt: skip
    assert cells[9].sources == (f"{RUN}.json:test.counts.repaired",)
    assert all(sum(c.span for c in row.cells) == 11 for row in measured.rows)
    lines = csv_text(found.records).splitlines()
    assert len(lines) == 1 + 12 + 2 * len(NAMES)
    assert "91.00,90.00,92.00,reproduced,-0.30" in csv_text(found.records)
    assert "BLEU" not in markdown(found.tables) + latex(found.tables)


def test_f1_by_length(load: Load, wsj: dict[str, Any], tmp_path: Path) -> None:
    (figure,) = section_of(load, wsj, scored(tmp_path, 91.0)).figures
    assert figure.svg.startswith("<?xml")
    records = figure.data
    assert [*records["words"]] == ["1-10", "61+"] * 2
    assert records.iloc[1].tolist() == [RUN, "61+", 2, "70.25"]


def test_nothing_was_run(load: Load, wsj: dict[str, Any]) -> None:
    found = section_of(load, wsj, {RUN: None})
    assert verdicts(found) == [(Verdict.NOT_RUN, ("no score yet",))] * 2
    assert found.figures == ()


SENTENCES = {
    "test.source": ["She sees <b> & him .", "A cat", "He sings ,", "too"],
    "test.target": [
        "(S (NP (PRP) )NP (VP (VBZ) (X) (CC) (NP (PRP) )NP )VP (.) )S",
        "(NP (DT) (NN) )NP",
        "(S (NP (PRP) )NP (VP (VBZ) )VP (,) )S",
        "(X (RB) )X",
    ],
    "test.hypotheses": [
        "(S (NP (PRP) )NP (VP (VBZ) (X) (CC) (PRP) )VP (.) )S",
        "(NP (DT) (NN) )NP",
        "no tree",
        "",
    ],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    text, outputs = tmp_path / "data/text", tmp_path / "outputs"
    for name, lines in SENTENCES.items():
        folder = outputs / RUN if name.endswith("hypotheses") else text / "parsing"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def test_parses_are_chosen_and_drawn(
    load: Load, wsj: dict[str, Any], files: Path, evidence: Callable[..., Evidence]
) -> None:
    run_evidence = evidence(root=files, config=load(wsj), scores={RUN: None})
    parses = read_parses(run_evidence)
    assert [(p.number, p.repaired) for p in parses[RUN]] == [(1, False), (2, False), (3, True)]
    figures = section(run_evidence).figures
    assert [figure.name for figure in figures] == [f"tree_parsing_parser_{n}" for n in (1, 2, 3)]
    assert "&lt;b&gt;" in figures[0].svg
    assert "<b>" not in figures[0].svg
    texts = re.findall(r">([^<>]+)</text>", figures[0].svg)
    assert texts.count("NP") == 3  # two of the treebank, one predicted
    assert texts.count("treebank") == texts.count("predicted") == 1
    assert texts.count("She") == 2
    assert figures[2].data["bracketing"][1] == "(TOP (PRP He) (VBZ sings) (, ,))"


def test_words_without_known_tags_are_drawn_without_tags(
    load: Load, wsj: dict[str, Any], files: Path, evidence: Callable[..., Evidence]
) -> None:
    untagged = "(S (NP She )NP (VP sees <b> & (NP him )NP )VP . )S\n" + "\n" * 3
    (files / "data/text/parsing/test.target").write_text(untagged)
    (files / "outputs" / RUN / "test.hypotheses").write_text(untagged)
    run_evidence = evidence(root=files, config=load(wsj), scores={RUN: None})
    figure, *_ = tree_figures(read_parses(run_evidence))
    texts = re.findall(r">([^<>]+)</text>", figure.svg)
    assert texts.count("She") == 2
    assert "XX" not in texts


def test_files_of_unequal_length(
    load: Load, wsj: dict[str, Any], files: Path, evidence: Callable[..., Evidence]
) -> None:
    (files / "outputs" / RUN / "test.hypotheses").write_text("(S\n")
    with pytest.raises(DataError, match=r"has 4 lines and .*hypotheses has 1\."):
        read_parses(evidence(root=files, config=load(wsj), scores={RUN: None}))


def test_outputs_of_other_parameters_are_not_drawn(
    load: Load, wsj: dict[str, Any], files: Path, evidence: Callable[..., Evidence]
) -> None:
    run_evidence = evidence(
        root=files, config=load(wsj), scores={RUN: None}, outdated={RUN: ("seed",)}
    )
    assert read_parses(run_evidence) == {}
