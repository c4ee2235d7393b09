"""conf/catalogue is valid and agrees with other sources."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu.dataset
import yaml

from aiayn import config
from aiayn.config import Catalogue

REPOSITORY = Path(__file__).parents[3]
NAMES = ("genia", "multi30k", "sentence_polarity", "tatoeba", "treebank_sample", "wmt14", "wsj")


@pytest.mark.parametrize("name", NAMES)
def test_a_catalogue_is_valid_in_params(name: str, tmp_path: Path) -> None:
    params = yaml.load((REPOSITORY / "params.yaml").read_text(), yaml.CSafeLoader)
    added = yaml.load(
        (REPOSITORY / "conf" / "catalogue" / f"{name}.yaml").read_text(), yaml.CSafeLoader
    )
    for section in ("downloads", "corpora"):
        params["catalogue"][section] |= added[section]
    path = tmp_path / "params.yaml"
    path.write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))
    assert set(added["corpora"]) <= set(config.load(path).catalogue.corpora)


@pytest.mark.parametrize("name", NAMES)
def test_downloads_are_complete_and_used(catalogue: Callable[[str], Catalogue], name: str) -> None:
    entries = catalogue(name)
    for download in entries.downloads.values():
        assert re.fullmatch(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", download.checksum)
        assert download.url.startswith(("https://", "http://www.statmt.org/"))
        assert download.licence
    used = {
        download
        for corpus in entries.corpora.values()
        for part in [
            *(corpus.sides or {}).values(),
            *(corpus.labelled.texts.values() if corpus.labelled else ()),
            corpus.treebank,
        ]
        if part
        for download in (part.download, getattr(part, "division", None))
    }
    assert used - {None} == set(entries.downloads)


@pytest.mark.parametrize("name", ["genia", "sentence_polarity", "tatoeba"])
def test_downloads_have_the_mirrors_checksums_and_sizes(
    catalogue: Callable[[str], Catalogue], multi30k_mirror: Path, name: str
) -> None:
    listed = (multi30k_mirror / "README.md").read_text()
    for download in catalogue(name).downloads.values():
        path = download.url.removeprefix("https://")
        assert f"| {path} | {download.checksum.removeprefix('sha256:')} |" in listed
        assert (multi30k_mirror / path).stat().st_size == download.bytes


def test_multi30k_has_the_mirrors_checksums_and_sizes(
    catalogue: Callable[[str], Catalogue], multi30k_mirror: Path
) -> None:
    listed = (multi30k_mirror / "README.md").read_text()
    downloads = catalogue("multi30k").downloads
    assert len(downloads) == 15
    for name, download in downloads.items():
        path = download.url.removeprefix("https://")
        assert f"| {path} | {download.checksum.removeprefix('sha256:')} |" in listed
        assert (multi30k_mirror / path).stat().st_size == download.bytes
        split, language = re.fullmatch(r"multi30k-(.*)-(..)", name).groups()
        assert path.endswith(f"/{split.replace('-', '_')}.{language}.gz")


@pytest.mark.parametrize(
    ("corpus", "theirs", "languages"),
    [
        ("newstest2013", "wmt13", ("en", "de")),
        ("newstest2013", "wmt13", ("en", "fr")),
        ("newstest2014-de-en", "wmt14/full", ("en", "de")),
        ("newstest2014-fr-en", "wmt14/full", ("en", "fr")),
    ],
)
def test_newstest_is_sacrebleus(
    catalogue: Callable[[str], Catalogue],
    corpus: str,
    theirs: str,
    languages: tuple[str, str],
) -> None:
    entries = catalogue("wmt14")
    dataset = sacrebleu.dataset.DATASETS[theirs]
    sides = [entries.corpora[corpus].sides[language] for language in languages]
    assert [side.member for side in sides] == dataset.langpairs["-".join(languages)]
    for side in sides:
        download = entries.downloads[side.download]
        assert download.checksum == f"md5:{dataset.md5[0]}"
        assert download.url.endswith(dataset.data[0].removeprefix("https://statmt.org"))
