"""Moses tokenization, by sacremoses.

The three functions here are used for published tokenized BLEU scores; `normalized` is also a form
of training text (`text.form: lowercased_tokens`). On all eight German and French validation and
test files of Multi30k it gives the word and character counts of the published files
(tests/data/test_moses.py has them).

The result equals tokenizer.perl before its change of November 2018, as at the paper's time. Today's
script differs in 4 to 15 of 3,004 lines of news, in a full stop after a letter and a digit at the
end of a line, which changes BLEU by at most 0.015.
"""

# sacremoses carries no types
# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import sacremoses

# As Perl's s///g: in a-b-c the first match consumes b, so the second hyphen is not split. With
# longer parts (well-to-do) every hyphen is split.
_COMPOUND = re.compile(r"(\S)-(\S)")


def signature(language: str) -> str:
    """The tokenizer, language and version, as the value of a signature's `tok`."""
    return f"moses-{language}.sacremoses-{sacremoses.__version__}"


def tokenized(lines: Iterable[str], language: str) -> list[str]:
    """replace-unicode-punctuation.perl, then `tokenizer.perl -l LANGUAGE` with its defaults.

    The characters &, |, <, >, ', ", [ and ] are escaped, and hyphens stay within words.

    Source: tensor2tensor/utils/get_ende_bleu.sh, the authors' script, as of April 2018.
    Deviation: the script uses a reference that Google tokenized; we tokenize hypotheses and
    references in the same way.
    """
    punctuation = sacremoses.MosesPunctNormalizer()
    tokenizer = sacremoses.MosesTokenizer(language)
    return [
        tokenizer.tokenize(punctuation.replace_unicode_punct(line), return_str=True)
        for line in lines
    ]


def compounds_split(tokenized_lines: Iterable[str]) -> list[str]:
    """Replace each hyphen between two characters by the word ##AT##-##AT##.

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
    # Perl's rule for `."` needs a character after the quote, so the line feed is needed for a final
    # period to move behind the quote, as in the published files
    return lambda line: tokenizer.tokenize(
        punctuation.normalize(line.lower() + "\n"), return_str=True
    )
