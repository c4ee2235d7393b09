"""Scores compared with other tools: multi-bleu.perl with Moses' scripts, sacrebleu itself.

Every figure named PERL was printed by Moses' multi-bleu.perl on text prepared by Moses' Perl
scripts (replace-unicode-punctuation, lowercase, normalize-punctuation, tokenizer 1.1) and by the
substitution of get_ende_bleu.sh; for compound_split_bleu, the reference's „ “ ” were replaced by " first.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import sacremoses
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from aiayn.data import moses
from aiayn.data.corpora.archives import segments
from aiayn.errors import ScoreError
from aiayn.evaluation.metric import score_by_name
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, Translations, bootstrapped
from aiayn.results.scores import Score
from aiayn.results.text import RAW

ERROR_RATES = {metric.name for metric in TRANSLATION_METRICS if not metric.higher_is_better}


def score_split(
    hypotheses: Sequence[str], references: Sequence[str], language: str, form: str = RAW
) -> dict[str, Score]:
    translations = Translations(hypotheses, references, language, form)
    return score_by_name(TRANSLATION_METRICS, translations)


GERMAN = [
    (
        "Der Mann sagte, er habe „genug“ von der Rock-’n’-Roll-Musik …",
        "Der Mann sagte: „Ich habe genug von der Rock-’n’-Roll-Musik …“",
    ),
    ("", "Niemand kam."),
    (
        "Die CO2-Steuer & der Preis steigen am 3. Mai um 4,5 Prozent.",
        "Die CO2-Steuer & ihr Preis stiegen am 3. Mai um 4,5 Prozent.",
    ),
    ('In den USA heißt es: "Let\'s go."', 'In den USA heißt es "Let\'s go".'),
    (
        "ein kleiner hund läuft durch den deutsch-französischen Wald .",
        "Ein kleiner Hund läuft durch den deutsch-französischen Wald.",
    ),
]
FRENCH = [
    (
        "L'homme dit qu'il n'a « rien » vu aujourd’hui…",
        "L’homme dit : « Je n'ai rien vu aujourd'hui. »",
    ),
    (
        "Peut-être viendra-t-elle en voiture bleue le 5 juin.",
        "Peut-être qu’elle viendra en voiture bleue le 5 juin.",
    ),
]
PERL = {
    "de": {"tokenized_bleu": 55.80, "compound_split_bleu": 61.05, "lowercased_bleu": 64.06},
    "fr": {"tokenized_bleu": 38.86, "lowercased_bleu": 38.86},
}


@pytest.mark.parametrize(("language", "pairs"), [("de", GERMAN), ("fr", FRENCH)])
def test_tokenized_scores_are_those_of_multi_bleu(
    language: str, pairs: list[tuple[str, str]]
) -> None:
    hypotheses, references = zip(*pairs, strict=True)
    scores = score_split(hypotheses, references, language)
    assert {name: scores[name].rounded().value for name in PERL[language]} == PERL[language]
    assert {"bleu", "chrf", *PERL[language]} <= set(scores)
    assert ("compound_split_bleu" in scores) == (language == "de")


@pytest.mark.parametrize(("language", "pairs"), [("de", GERMAN), ("fr", FRENCH)])
def test_lowercased_tokens_have_only_the_score_of_their_protocol(
    language: str, pairs: list[tuple[str, str]]
) -> None:
    hypotheses, references = zip(*pairs, strict=True)
    hypothesis_words, reference_words = (
        moses.normalized(side, language) for side in (hypotheses, references)
    )
    scores = score_split(hypothesis_words, reference_words, language, "lowercased_tokens")
    assert set(scores) == {"lowercased_bleu"}
    found = scores["lowercased_bleu"]
    assert found.rounded().value == PERL[language]["lowercased_bleu"]
    raw = score_split(hypotheses, references, language)
    assert found.signature == raw["lowercased_bleu"].signature  # so the two are comparable


NEWSTEST = Path(__file__).parents[2] / "../shared/wmt14-mini-fr/www.statmt.org/wmt14/test-full.tgz"


def newstest2014() -> list[str]:
    if not NEWSTEST.exists():
        pytest.skip(f"no archive of WMT14's test sets at {NEWSTEST}")
    with tarfile.open(NEWSTEST) as archive:
        file = archive.extractfile("test-full/newstest2014-deen-ref.de.sgm")
        assert file is not None
        return [line.decode() for line in segments(file.read(), str(NEWSTEST))]


def perl(line: str, text: list[str]) -> list[str]:
    """The text after a line of the script."""
    completed = subprocess.run(
        ["perl", "-pe", line], input="\n".join(text), capture_output=True, check=True,
        encoding="utf-8",
    )  # fmt: skip
    return completed.stdout.split("\n")


def get_ende_bleu(hypotheses: list[str], reference: list[str]) -> float:
    """tensor2tensor's get_ende_bleu.sh against a reference as tensor2tensor#317 describes Google's.

    Of replace-unicode-punctuation.perl, the lines that a character of newstest2014.de meets; the
    tokenizer is tokenizer.perl's port, which tests/data/test_moses.py compares with the original.
    """
    tokenize = sacremoses.MosesTokenizer("de").tokenize
    sides = []
    for text, quotes in (
        (hypotheses, r's/”/"/g; s/“/"/g; s/’/\'/g; s/…/.../g'),
        (reference, r's/„/"/g; s/“/"/g; s/”/"/g'),
    ):
        tokens = [tokenize(line, return_str=True) for line in perl(quotes, text)]
        split = perl(r"s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g", tokens)
        sides.append([line.split(" ") for line in split])
    return multi_bleu(*sides)


def multi_bleu(hypotheses: list[list[str]], reference: list[list[str]]) -> float:
    """Papineni et al. 2002: BLEU-4 with one reference, not smoothed."""
    precision = 0.0
    for order in (1, 2, 3, 4):
        matched = total = 0
        for pair in zip(hypotheses, reference, strict=True):
            ours, theirs = (
                Counter(zip(*(s[n:] for n in range(order)), strict=False)) for s in pair
            )
            matched, total = matched + (ours & theirs).total(), total + ours.total()
        precision += math.log(matched / total) / 4
    hypothesis_length, reference_length = (sum(map(len, side)) for side in (hypotheses, reference))
    return 100 * math.exp(precision + min(0.0, 1 - reference_length / hypothesis_length))


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_table_2s_protocol_is_that_of_the_authors_script_and_reference() -> None:
    """The scores to two decimals are PERL's; its 64,496 words of reference are fairseq's too."""
    reference = newstest2014()
    german = [
        " ".join(word for n, word in enumerate(line.split()) if n % 7 != 4) for line in reference
    ]
    plain = [line.replace("„", '"').replace("“", '"') for line in german]
    metric = {metric.name: metric for metric in TRANSLATION_METRICS}["compound_split_bleu"]
    for hypotheses, printed_by_perl in ((german, 64.93), (plain, 65.78)):
        found = metric.score(Translations(hypotheses, reference, "de"))
        assert found
        assert found.value == pytest.approx(get_ende_bleu(hypotheses, reference), abs=0.01)
        assert found.rounded().value == printed_by_perl


@pytest.mark.slow
def test_standard_scores_are_those_of_sacrebleus_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hypotheses, references = zip(*GERMAN * 40, strict=True)
    for name, lines in (("hypotheses", hypotheses), ("references", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    printed = subprocess.run(
        [
            sys.executable, "-m", "sacrebleu", "references", "-i", "hypotheses",
            "--metrics", "bleu", "chrf", "--confidence", "--width", "2",
        ],
        cwd=tmp_path, check=True, capture_output=True, encoding="utf-8",
    ).stdout  # fmt: skip
    scores = score_split(hypotheses, references, "de")
    for theirs, ours in zip(json.loads(printed), (scores["bleu"], scores["chrf"]), strict=True):
        assert ours.low is not None
        assert ours.high is not None
        assert round(ours.value, 2) == theirs["score"]
        assert ours.signature == theirs["signature"]
        assert round((ours.low + ours.high) / 2, 2) == theirs["confidence_mean"]
        assert round((ours.high - ours.low) / 2, 2) == theirs["confidence_var"]


def test_every_protocol_has_its_own_signature() -> None:
    scores = score_split(["Ein Hund."], ["Ein Hund."], "de")
    parts = {name: set(score.signature.split("|")) for name, score in scores.items()}
    assert len({score.signature for score in scores.values()}) == len(TRANSLATION_METRICS)
    assert {"nrefs:1", "case:mixed", "eff:no", "tok:13a", "smooth:exp"} < parts["bleu"]
    assert {"nc:6", "nw:0", "space:no"} < parts["chrf"]
    assert parts["compound_split_bleu"] - parts["tokenized_bleu"] == {
        "compounds:split", "refquotes:plain",
    }  # fmt: skip
    assert {"case:lc", "punct:moses-normalized", "smooth:none"} < parts["lowercased_bleu"]
    assert all({"bs:1000", "seed:12345"} < part for part in parts.values())


def test_brevity_penalty_and_clipping_in_closed_form() -> None:
    short = score_split(["a b c d e"], ["a b c d e f"], "de")
    assert short["tokenized_bleu"].value == pytest.approx(100 * math.exp(1 - 6 / 5))
    # the reference has one d, so one of four counts
    clipped = score_split(["a b c d d d d"], ["a b c d e f g"], "de")
    orders = [4 / 7, 3 / 6, 2 / 5, 1 / 4]
    assert clipped["tokenized_bleu"].value == pytest.approx(100 * math.prod(orders) ** 0.25)
    # no 4-gram matches, and multi-bleu does not smooth
    assert score_split(["a b c e f"], ["a b c d e"], "de")["tokenized_bleu"].value == 0


AWKWARD = [
    "<script>alert('x')</script> ist kein guter Satz",
    "vier 😀 Worte 👩\u200d🚀 hier 😀",
    "\tTabs\tund Leerzeichen  am Ende  ",
    "AT&amp;T &lt;b&gt; &quot;heißt&quot; so",
    "Zeilen\u2028trenner\x85und\x0bandere\x1dZeichen bleiben",
    "Wort " * 3000,
]


def test_a_perfect_translation_scores_100_on_awkward_text() -> None:
    for name, score in score_split(AWKWARD, AWKWARD, "de").items():
        best = 0 if name in ERROR_RATES else 100
        assert (score.value, score.low, score.high) == pytest.approx((best, best, best))
        assert score.rounded().value == best


def test_empty_translations_score_0() -> None:
    for name, score in score_split([""] * len(AWKWARD), AWKWARD, "de").items():
        worst = 100 if name in ERROR_RATES else 0
        assert (score.value, score.low, score.high) == (worst, worst, worst)


def test_an_almost_empty_translation_has_an_interval_that_reaches_0() -> None:
    # some resamples then have nothing but empty lines
    scores = score_split(["Ein Hund läuft im Wald.", "", ""], ["Ein Hund läuft im Wald."] * 3, "de")
    for name in scores.keys() - ERROR_RATES:
        assert scores[name].low == 0 < scores[name].value < 100


@pytest.mark.parametrize(("hypotheses", "references"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_unequal_or_no_lines_are_refused(hypotheses: list[str], references: list[str]) -> None:
    message = f"^{len(hypotheses)} hypotheses .* {len(references)} references"
    with pytest.raises(ScoreError, match=message):
        score_split(hypotheses, references, "de")


def test_a_score_beyond_its_scale_is_refused() -> None:
    """Six words too many, against four of the references: TER is 150 percent."""
    sides = (["a b c d e f g h i", "x"], ["a b c", "x"])
    with pytest.raises(ScoreError, match=r"^TER is 150\.00, beyond its scale of 0 to 100\. "):
        bootstrapped(TER(), sides)
    score = bootstrapped(TER(), sides, highest=math.inf)
    assert score.value == 150
    assert score.high is not None
    assert score.high > 150


def test_the_users_seed_is_ignored_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    hypotheses, references = zip(*GERMAN, strict=True)
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    before = score_split(hypotheses, references, "de")
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    assert score_split(hypotheses, references, "de") == before
    assert os.environ["SACREBLEU_SEED"] == "7"


SENTENCE = st.text("ab .-&ä'", max_size=30)


@pytest.mark.slow
@settings(max_examples=10)
@given(pairs=st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=5), data=st.data())
def test_order_of_sentences_does_not_matter(
    pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(pairs))
    hypotheses, references = zip(*pairs, strict=True)
    scores = score_split(hypotheses, references, "de")
    hypotheses, references = zip(*shuffled, strict=True)
    shuffled_scores = score_split(hypotheses, references, "de")
    for name, score in scores.items():
        assert score.rounded().value >= 0
        assert score.rounded().value <= 100 or name in ERROR_RATES
        assert score.value == pytest.approx(shuffled_scores[name].value)


def test_importing_loads_no_heavy_package() -> None:
    heavy = "{'torch', 'mlflow', 'matplotlib', 'dvc'} & set(sys.modules)"
    code = f"import sys, aiayn.evaluation.translation_metrics, aiayn.evaluation.references; print({heavy})"
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "set()\n"
