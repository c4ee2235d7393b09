"""Lines are read from every container as they were written."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import tempfile
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset

from aiayn.data.corpora import archives
from aiayn.data.corpora.archives import lines
from aiayn.errors import DataError

LINES = ["one", "zwei drei", "", "quatre"]
TEXT = "".join(f"{line}\n" for line in LINES).encode()


def tar_of(
    members: Mapping[str, bytes], mode: Literal["w", "w:gz", "w:bz2", "w:xz"] = "w:gz"
) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def read(folder: Path, name: str, content: bytes, member: str | None = None) -> list[str]:
    (folder / name).write_bytes(content)
    return [line.decode() for line in lines(folder / name, member)]


@pytest.mark.parametrize(
    ("name", "content", "member"),
    [
        ("a.en", TEXT, None),
        ("a.en.gz", gzip.compress(TEXT), None),
        ("a.tgz", tar_of({"x": b"no\n", "d/a.en": TEXT}), "d/a.en"),
        ("a.tar.gz", tar_of({"./d/a.en": TEXT}), "d/a.en"),
        ("a.tar", tar_of({"x": b"no\n" * 9999, "a.en.gz": gzip.compress(TEXT)}, "w"), "a.en.gz"),
    ],
    ids=["plain", "gz", "tgz", "dot slash", "gz in tar"],
)
def test_every_container(tmp_path: Path, name: str, content: bytes, member: str | None) -> None:
    assert read(tmp_path, name, content, member) == LINES


def test_the_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    assert read(tmp_path, "a", b"one\ntwo") == ["one", "two"]
    assert read(tmp_path, "b", b"") == []


@settings(max_examples=30)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")), max_size=9)
)
def test_only_a_line_feed_separates_lines(texts: list[str]) -> None:
    texts = ["a\u2028b\x85c\x0bd\re", *texts]
    content = "".join(f"{text}\n" for text in texts).encode()
    with tempfile.TemporaryDirectory() as folder:
        assert read(Path(folder), "a.gz", gzip.compress(content)) == texts


@pytest.mark.parametrize("share", [0.2, 0.6, 0.99])
@pytest.mark.parametrize("name", ["a.gz", "a.tgz"])
def test_a_truncated_file_is_an_error(tmp_path: Path, name: str, share: float) -> None:
    noise = b"".join(b"%d\n" % (n * n * 7919 % 100_003) for n in range(20_000))
    whole = gzip.compress(noise) if name == "a.gz" else tar_of({"m": noise})
    member = None if name == "a.gz" else "m"
    with pytest.raises(DataError) as caught:
        read(tmp_path, name, whole[: int(share * len(whole))], member)
    location = f"{tmp_path}/{name}" + (", member m" if member else "")
    assert str(caught.value).startswith(f"{location}: truncated or damaged (")
    assert str(caught.value).endswith("). Replace it with an intact copy.")


@pytest.mark.parametrize("name", ["a.gz", "a.tgz"])
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="truncated or damaged"):
        read(tmp_path, name, b"<html>not found</html>", None if name == "a.gz" else "m")


def test_a_missing_member(tmp_path: Path) -> None:
    archive = tar_of({"training/a.de-en.de": TEXT, "training/a.de-en.en": TEXT})
    with pytest.raises(DataError) as caught:
        read(tmp_path, "a.tgz", archive, "training/a.de-en.fr")
    assert str(caught.value) == (
        f"{tmp_path}/a.tgz, member training/a.de-en.fr: no such member. "
        "The closest name is training/a.de-en.en."
    )


def test_members_need_an_archive(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.tgz: is an archive; set the member to read"):
        read(tmp_path, "a.tgz", tar_of({"m": TEXT}))
    with pytest.raises(DataError, match=r"a\.gz, member m: not an archive"):
        read(tmp_path, "a.gz", gzip.compress(TEXT), "m")


def test_a_hostile_name_is_only_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down"
    folder.mkdir(parents=True)
    archive = tar_of({"../../evil": TEXT, "/etc/evil": TEXT})
    assert read(folder, "a.tgz", archive, "../../evil") == LINES
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [folder / "a.tgz"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("m")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(DataError, match="member m: not a regular file"):
        read(tmp_path, "a.tgz", buffer.getvalue(), "m")


def test_segments_of_an_sgm(tmp_path: Path) -> None:
    sgm = (
        '<refset trglang="de">\n<doc docid="a">\n<hl>\n<seg id="1">R&amp;D &lt;b&gt; &quot;x&quot;'
        ' &#8211; &amp;lt;</seg>\n</hl>\n<p>\n<seg id="2"> over\n two  lines </seg>'
        '<SEG id="3"></SEG>\n</p>\n</doc>\n</refset>\n'
    )
    # entities are resolved once: "&amp;lt;" is the text "&lt;", not "<"
    expected = ['R&D <b> "x" – &lt;', " over two lines ", ""]
    assert read(tmp_path, "a.sgm", sgm.encode()) == expected
    assert read(tmp_path, "a.sgm.gz", gzip.compress(sgm.encode())) == expected


def test_a_segment_that_is_not_closed(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, "a.sgm", b'<seg id="1">one</seg>\n<seg id="2">two\n')
    assert str(caught.value) == f"{tmp_path}/a.sgm: 2 <seg> are opened, 1 closed. Correct the file."


@pytest.mark.parametrize("text", [b"<seg>" * 300_000, b"</seg><seg>" * 300_000, b"<seg " * 300_000])
def test_segments_that_are_not_closed_take_linear_time(text: bytes) -> None:
    """300,000 of them took minutes."""
    start = time.process_time()
    with pytest.raises(DataError, match=r"300000 <seg> are opened, (0|299999) closed"):
        list(archives.segments(text, "a.sgm"))
    assert time.process_time() - start < 10


def test_a_duplicate_member(tmp_path: Path) -> None:
    """tar extracts the last one; reading a stream would give the first."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in (("a.en", b"first\n"), ("b.en", b"b\n"), ("./a.en", b"last\n")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    assert read(tmp_path, "a.tgz", buffer.getvalue(), "b.en") == ["b"]
    with pytest.raises(DataError, match=r"a.tgz, member a.en: is in the archive twice"):
        read(tmp_path, "a.tgz", buffer.getvalue(), "a.en")


@pytest.mark.parametrize("side", ["src.en", "ref.de"])
def test_segments_are_those_sacrebleu_extracts(
    wmt14_mini_mirror: Path, tmp_path: Path, side: str
) -> None:
    archive = wmt14_mini_mirror / "www.statmt.org/wmt14/test-full.tgz"
    member = f"test-full/newstest2014-deen-{side}.sgm"
    with tarfile.open(archive) as whole:
        (tmp_path / "a.sgm").write_bytes(whole.extractfile(member).read())
    FakeSGMLDataset("a")._convert_format(str(tmp_path / "a.sgm"), str(tmp_path / "a.txt"))
    theirs = (tmp_path / "a.txt").read_text().split("\n")[:-1]
    # sacreBLEU does not resolve entities until it tokenizes
    theirs = [re.sub("&lt;", "<", re.sub("&gt;", ">", line)) for line in theirs]
    theirs = [line.replace("&quot;", '"').replace("&amp;", "&") for line in theirs]
    assert len(theirs) == 500
    assert [line.decode().strip() for line in lines(archive, member)] == theirs


def test_lines_up_to_the_limit_are_read_whole(tmp_path: Path) -> None:
    longest = b"x" * archives.LINE_BYTES
    content = b"\n".join([longest, b"a", longest + b"y", b"b", longest + b"yz" * 9, b"c", longest])
    (tmp_path / "a").write_bytes(content)
    found = list(lines(tmp_path / "a"))
    assert [line[:1] for line in found] == [b"x", b"a", b"x", b"b", b"x", b"c", b"x"]
    assert [line == longest for line in found] == [n in (0, 6) for n in range(7)]
    assert [len(line) for line in (found[2], found[4])] == [len(longest) + 1] * 2


@pytest.mark.parametrize("name", ["a.gz", "a.tgz"])
def test_an_endless_line_is_read_in_constant_memory(tmp_path: Path, name: str) -> None:
    """64 MB of zeros in 64 kB, as a member of an archive too."""
    bomb = gzip.compress(bytes(1 << 26) + b"\nlast\n", 1)
    (tmp_path / name).write_bytes(bomb if name == "a.gz" else tar_of({"m.gz": bomb}))
    tracemalloc.start()
    first, last = lines(tmp_path / name, None if name == "a.gz" else "m.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(first), last) == (archives.LINE_BYTES + 1, b"last")
    assert peak < 1 << 24


def test_an_sgm_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FILE_BYTES", 1 << 20)
    with pytest.raises(DataError, match=r"a\.sgm\.gz: has more than 1 MiB, the limit"):
        read(tmp_path, "a.sgm.gz", gzip.compress(bytes((1 << 20) + 1)))


@pytest.mark.parametrize("position", [156, 0, 124], ids=["type", "name", "size"])
@pytest.mark.parametrize("name", ["a.tar", "a.tgz"])
def test_a_damaged_header_is_not_the_end_of_the_archive(
    tmp_path: Path, name: str, position: int
) -> None:
    archive = bytearray(tar_of({"first": b"x" * 512, "second": TEXT, "third": TEXT}, "w"))
    archive[1024 + position] ^= 1  # of the second member's header
    content = bytes(archive) if name == "a.tar" else gzip.compress(archive)
    with pytest.raises(DataError) as caught:
        read(tmp_path, name, content, "third")
    assert str(caught.value) == (
        f"{tmp_path}/{name}, member third: truncated or damaged (bad checksum at byte 1024). "
        "Replace it with an intact copy."
    )
