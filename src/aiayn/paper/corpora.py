"""The paper's training and test sets, identified by content: published numbers of pairs, and
checksums of the files. A corpus's name alone is not enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiayn.paper.requirement import Requirement, about

# published counts of the same corpus differ by up to 0.3 %: with or without empty lines
COUNT_TOLERANCE = 0.005


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A published file and its checksum, which the catalogue must declare."""

    name: str
    checksum: str


@dataclass(frozen=True, kw_only=True)
class TrainingText:
    """The training text of a published score.

    `corpora` are numbers of pairs before cleaning, by name, required within COUNT_TOLERANCE;
    `archives` contain them, if they are public and a checksum is known; `pairs` is the number after
    cleaning. `not_public` names the corpora that are not available.
    """

    corpora: Mapping[str, int]
    pairs: Requirement
    archives: tuple[Archive, ...] = ()
    not_public: tuple[str, ...] = ()


@dataclass(frozen=True)
class EvaluationSet:
    """The test set of a published score: corpora by catalogue name, and number of sentence pairs.

    `archive` is the file that contains them, if it is public.
    """

    corpora: tuple[str, ...]
    pairs: int
    archive: Archive | None = None


# Checksums: tensorflow/datasets (training), sacreBLEU (newstest2013 and 2014)
EUROPARL = Archive(
    name="Europarl v7",
    checksum="sha256:0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
)
COMMON_CRAWL = Archive(
    name="Common Crawl",
    checksum="sha256:c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
)
NEWS_COMMENTARY = Archive(
    name="News Commentary v9",
    checksum="sha256:cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
)
UN = Archive(
    name="UN", checksum="sha256:29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47"
)
GIGA = Archive(
    name="Giga FR-EN",
    checksum="sha256:3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a",
)
NEWSTEST_2013 = Archive(name="newstest2013", checksum="md5:48eca5d02f637af44e85186847141f67")
NEWSTEST_2014 = Archive(name="newstest2014", checksum="md5:a8cd784e006feb32ac6f3d9ec7eb389a")

# Section 5.1 names the data sets; WMT 2014's task page lists their parts and numbers of pairs
WMT14_EN_DE = TrainingText(
    corpora={"Europarl v7": 1_920_209, "Common Crawl": 2_399_123, "News Commentary v9": 201_288},
    archives=(EUROPARL, COMMON_CRAWL, NEWS_COMMENTARY),
    pairs=about("about 4.5M", "section 5.1", low=4_450_000, high=4_550_000),
)
WMT14_EN_FR = TrainingText(
    corpora={
        "Europarl v7": 2_007_723,
        "Common Crawl": 3_244_152,
        "News Commentary v9": 183_251,
        "UN": 12_886_831,
        "Giga FR-EN": 22_520_376,
    },
    archives=(EUROPARL, COMMON_CRAWL, NEWS_COMMENTARY, UN, GIGA),
    # the paper's 36M are those of ConvS2S, which had 35.5M after cleaning (Gehring et al. 2017)
    pairs=about("36M", "section 5.1", low=35_000_000, high=36_500_000),
)
WSJ = TrainingText(
    corpora={"sections 02-21 of the Wall Street Journal": 39_832},
    pairs=about("about 40K", "section 6.3", low=39_500, high=40_500),
)
WSJ_AND_PARSED = TrainingText(
    corpora=WSJ.corpora,
    pairs=about("about 17M", "section 6.3", low=16_500_000, high=17_500_000),
    not_public=("high-confidence corpus", "BerkeleyParser corpus"),
)

DEVELOPMENT_SET = EvaluationSet(corpora=("newstest2013",), pairs=3000, archive=NEWSTEST_2013)
TEST_SETS = {
    "en-de": EvaluationSet(corpora=("newstest2014-de-en",), pairs=3003, archive=NEWSTEST_2014),
    "en-fr": EvaluationSet(corpora=("newstest2014-fr-en",), pairs=3003, archive=NEWSTEST_2014),
}
WSJ_23 = EvaluationSet(corpora=("wsj-23",), pairs=2416)
