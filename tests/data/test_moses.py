"""Words as Moses' own scripts split them.

Golden text comes from Moses' tokenizer.perl 1.1 and from `perl -ple` with the substitution of
get_ende_bleu.sh, both run by hand; golden counts from the files that Multi30k's authors publish
under data/task1/tok (words as in their README, characters with line feeds as stored).
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from aiayn.data import moses
from aiayn.data.corpora.archives import segments

MULTI30K = (
    Path(__file__).parents[2]
    / "../shared/mirror/raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
)
NEWSTEST = Path(__file__).parents[2] / "../shared/wmt14-mini-fr/www.statmt.org/wmt14/test-full.tgz"


def multi30k(split: str, language: str) -> list[str]:
    path = MULTI30K / f"{split}.{language}.gz"
    if not path.exists():
        pytest.skip(f"no mirror of Multi30k at {MULTI30K}")
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


@pytest.mark.parametrize(
    ("split", "language", "words", "characters"),
    [
        ("val", "de", 12828, 76011),
        ("val", "fr", 14381, 77007),
        ("test_2016_flickr", "de", 12103, 70777),
        ("test_2016_flickr", "fr", 13988, 75145),
        ("test_2017_flickr", "de", 10758, 64128),
        ("test_2017_flickr", "fr", 12596, 68343),
        ("test_2017_mscoco", "de", 5158, 29973),
        ("test_2017_mscoco", "fr", 5710, 31096),
    ],
)
def test_normalized_text_has_the_size_of_the_published_files(
    split: str, language: str, words: int, characters: int
) -> None:
    lines = moses.normalized(multi30k(split, language), language)
    assert sum(len(line.split()) for line in lines) == words
    assert sum(len(line) + 1 for line in lines) == characters


def test_a_closing_period_moves_behind_the_quote_as_in_the_published_files() -> None:
    # line 656 is the one German validation sentence that ends in a quoted sentence
    line = moses.normalized(multi30k("val", "de"), "de")[655]
    assert line.split()[-3:] == ["tea", "&quot;", "."]


@pytest.mark.parametrize(
    ("raw", "german", "french"),
    [
        (
            'R&B-Band "Lied" [1|2]',
            "R &amp; B-Band &quot; Lied &quot; &#91; 1 &#124; 2 &#93;",
            "R &amp; B-Band &quot; Lied &quot; &#91; 1 &#124; 2 &#93;",
        ),
        (
            "Peter's Hut z.B. am 3. Mai usw.",
            "Peter &apos; s Hut z.B. am 3. Mai usw.",
            "Peter&apos; s Hut z.B. am 3 . Mai usw .",
        ),
        (
            "Dr. Müller, ca. 5,300 kg ... ja..",
            "Dr. Müller , ca. 5,300 kg ... ja ..",
            "Dr . Müller , ca. 5,300 kg ... ja ..",
        ),
        (
            '<script>alert("x")</script>',
            "&lt; script &gt; alert ( &quot; x &quot; ) &lt; / script &gt;",
            "&lt; script &gt; alert ( &quot; x &quot; ) &lt; / script &gt;",
        ),
        # an entity in the text is text: split like the rest, and its & escaped once
        ("sagt &amp; &", "sagt &amp; amp ; &amp;", "sagt &amp; amp ; &amp;"),
        (
            "Ein 👩\u200d🚀 und 😀😀!",
            "Ein 👩 \u200d 🚀 und 😀 😀 !",
            "Ein 👩 \u200d 🚀 und 😀 😀 !",
        ),
        ("\tzwei\tTabs  ", "zwei Tabs", "zwei Tabs"),
        ("a\u00a0b\u2028c\x85d\x0be", "a b c d e", "a b c d e"),
        ("", "", ""),
    ],
)
def test_tokenizer_is_that_of_moses(raw: str, german: str, french: str) -> None:
    assert moses.tokenized([raw], "de") == [german]
    assert moses.tokenized([raw], "fr") == [french]


def test_unicode_punctuation_is_replaced_before_tokenizing_but_low_quotes_are_not() -> None:
    # replace-unicode-punctuation.perl replaces ” “ ’ …, but not „ « » –
    assert moses.tokenized(["„So“ sei’s – …"], "de") == ["„ So &quot; sei &apos; s – ..."]


def test_compounds_are_split_as_by_perl() -> None:
    before = "a-b-c well-to-do x--y - -a b- &apos;-er"
    after = (
        "a ##AT##-##AT## b-c well ##AT##-##AT## to ##AT##-##AT## do x ##AT##-##AT## -y - -a b- "
        "&apos; ##AT##-##AT## er"
    )
    assert moses.compounds_split([before]) == [after]


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
@pytest.mark.parametrize(("pair", "language"), [("deen", "de"), ("fren", "fr")])
def test_newstest2014_is_split_as_by_perl(pair: str, language: str) -> None:
    if not NEWSTEST.exists():
        pytest.skip(f"no archive of WMT14's test sets at {NEWSTEST}")
    with tarfile.open(NEWSTEST) as archive:
        file = archive.extractfile(f"test-full/newstest2014-{pair}-ref.{language}.sgm")
        assert file is not None
        lines = [line.decode() for line in segments(file.read(), str(NEWSTEST))]
    assert len(lines) == 3003
    tokens = moses.tokenized(lines, language)
    # the line of get_ende_bleu.sh, in tensor2tensor
    script = r"s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g"
    split = subprocess.run(
        ["perl", "-CSD", "-ple", script], input="\n".join(tokens), capture_output=True, text=True,
        check=True, encoding="utf-8",
    )  # fmt: skip
    assert moses.compounds_split(tokens) == split.stdout.removesuffix("\n").split("\n")
    assert split.stdout.count("##AT##-##AT##") > 500


def test_signature_names_language_and_release() -> None:
    assert moses.signature("de").startswith("moses-de.sacremoses-")
