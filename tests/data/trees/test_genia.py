"""GENIA's XML: what is mapped, removed and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiayn.data.trees.genia import read_genia
from aiayn.data.trees.linear import linearize
from aiayn.data.trees.reading import read_tree
from aiayn.errors import DataError

# like the treebank's files: a title with a quotation, an abstract with null elements
ABSTRACT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE Annotation>
<Annotation><PubmedArticleSet><PMID>1</PMID>
<ArticleTitle><sentence id="S1"><cons cat="NP"><tok cat="LQT">"</tok><tok cat="NN">\u03b1</tok> \
<tok cat="RQT">"</tok> <tok cat="COLON">;</tok><tok cat="PRPP">its</tok>
<cons cat="PRN"><tok cat="LRB">[</tok><tok cat="CD">&lt; 5</tok><tok cat="RRB">]</tok></cons>\
</cons></sentence></ArticleTitle>
<AbstractText>outside <sentence id="S2"><cons cat="S"><cons cat="NP" id="i1" role="SBJ">\
<tok cat="NN">[3H](x)</tok></cons> <cons cat="VP"><tok cat="VBZ">is</tok> <cons cat="VP">\
<tok cat="VBN">seen</tok> <cons cat="NP" ref="i1" null="NONE"></cons><cons cat="SBAR"><cons cat="S"/>\
</cons></cons></cons><tok cat="PERIOD">.</tok></cons></sentence> <sentence id="S3"></sentence>
</AbstractText></PubmedArticleSet></Annotation>
"""


def test_trees_in_the_format_of_the_penn_treebank() -> None:
    title, text, empty = read_genia(ABSTRACT.encode(), "file")
    assert str(title) == (
        "(TOP (NP (`` ``) (NN \u03b1) ('' '') (: ;) (PRP$ its)"
        " (PRN (-LRB- -LSB-) (CD <5) (-RRB- -RSB-))))"
    )
    assert str(text) == (
        "(TOP (S (NP (NN -LSB-3H-RSB--LRB-x-RRB-)) (VP (VBZ is) (VP (VBN seen))) (. .)))"
    )
    assert empty.words == ()
    assert empty.brackets == ()


def test_trees_are_read_back_and_written_as_symbols() -> None:
    for tree in read_genia(ABSTRACT.encode(), "file"):
        assert read_tree(str(tree), "line") == tree
    title = next(read_genia(ABSTRACT.encode(), "file"))
    assert linearize(title, "tags") == (
        "(NP (``) (NN) ('') (:) (PRP$) (PRN (-LRB-) (CD) (-RRB-) )PRN )NP"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("</Annotation>", "", "file, line 8: not XML (no element found)"),
        ("<PMID>1", "<PMID>&nbsp;", "file, line 3: not XML (undefined entity)"),
        (' cat="VBZ"', "", "file, line 6: <tok> without the attribute cat"),
        (">is<", "> <", "file, line 6: a <tok> without a word"),
        (">is<", "><b>is</b><", "file, line 6: <b> within a <sentence>"),
        (">seen<", "><tok cat='X'>seen</tok><", "file, line 6: <tok> within a <tok>"),
        ("</tok> <cons cat", "</tok> stray <cons cat", "outside of a <tok>"),
        ('<sentence id="S3">', "<sentence><sentence/>", "a <sentence> within a <sentence>"),
    ],
)
def test_an_invalid_file_is_refused_with_its_line(old: str, new: str, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_genia(ABSTRACT.replace(old, new).encode(), "file"))
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_external_file_or_entity_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    for entity in (f'SYSTEM "{tmp_path}/secret"', '"lol lol lol lol"'):
        doctype = f"<!DOCTYPE Annotation [<!ENTITY bomb {entity}>]>"
        changed = ABSTRACT.replace("<!DOCTYPE Annotation>", doctype).replace("seen", "&bomb;")
        with pytest.raises(DataError, match="line 2: declares the entity 'bomb'"):
            list(read_genia(changed.encode(), "file"))
    outside = f'<!DOCTYPE Annotation SYSTEM "{tmp_path}/secret">'
    changed = ABSTRACT.replace("<!DOCTYPE Annotation>", outside)
    assert len(list(read_genia(changed.encode(), "file"))) == 3
