"""Text as Moses' scripts cut it into words, by way of sacremoses.

The three preparations here are those behind published tokenized BLEU, and `normalized` is also the
form in which a task's text may be learned (`text.form: lowercased_tokens`). On all eight German and
French validation and test files of Multi30k it gives the word and the character counts of the files
that its authors published; tests/data/test_moses.py holds the figures.

The tokens are those of tokenizer.perl as it was before its change of November 2018, so also at the
paper's time. Today's script differs in 4 to 15 of 3,004 lines of news, by a full stop after a
letter and a digit at the line's end, which is 0.015 BLEU at most.
"""

# sacremoses carries no types
# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import sacremoses

# One hyphen a match, as Perl's s///g walks it: in a-b-c the b is spent on the first hyphen, so the
# second stays. With longer parts (well-to-do) every hyphen is split.
_COMPOUND = re.compile(r"(\S)-(\S)")


def signature(language: str) -> str:
    """Whose rules cut the words, and by which release, as the value of a signature's `tok`."""
    return f"moses-{language}.sacremoses-{sacremoses.__version__}"


def tokenized(lines: Iterable[str], language: str) -> list[str]:
    """replace-unicode-punctuation.perl, then `tokenizer.perl -l LANGUAGE` with its defaults.

    So &, |, <, >, ', ", [ and ] come out escaped, once, and hyphens stay within words.

    Source: tensor2tensor/utils/get_ende_bleu.sh, the authors' script, as of April 2018.
    Deviation: the script scores against a reference that Google tokenized beforehand; we tokenize
    hypotheses and references alike, which is what makes them comparable at all.
    """
    punctuation = sacremoses.MosesPunctNormalizer()
    tokenizer = sacremoses.MosesTokenizer(language)
    return [
        tokenizer.tokenize(punctuation.replace_unicode_punct(line), return_str=True)
        for line in lines
    ]


def compounds_split(tokenized_lines: Iterable[str]) -> list[str]:
    """Each hyphen between two characters as the word ##AT##-##AT##.

    Worth 0.7 to 1 BLEU in German. Source: get_ende_bleu.sh.
    """
    return [_COMPOUND.sub(r"\1 ##AT##-##AT## \2", line) for line in tokenized_lines]


def normalized(lines: Iterable[str], language: str) -> list[str]:
    """Each line by `normalizer`."""
    return list(map(normalizer(language), lines))


def normalizer(language: str) -> Callable[[str], str]:
    """lowercase.perl, `normalize-punctuation.perl -l LANGUAGE`, `tokenizer.perl -l LANGUAGE`.

    Source: multi30k/dataset, scripts/task1-tokenize.sh, which makes its *.lc.norm.tok.* files.
    """
    punctuation = sacremoses.MosesPunctNormalizer(language, perl_parity=True)
    tokenizer = sacremoses.MosesTokenizer(language)
    # Perl sees the end of the line, and its rule for `."` needs a character after the quote: only
    # with the line feed does a closing period move behind the quote, as it did in their files.
    return lambda line: tokenizer.tokenize(
        punctuation.normalize(line.lower() + "\n"), return_str=True
    )
