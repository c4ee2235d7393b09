"""Sentences from arguments, files, pipes and standard input, and lines to standard output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.commands.trained_run.conftest import (
    CLASSIFIER,
    PARSER,
    RUN,
    SENTENCES,
    Capture,
    expected,
)

from aiayn import config
from aiayn.commands import main
from aiayn.errors import DataError
from aiayn.trained_run import TrainedRun


def test_arguments_a_file_and_stdin_are_translated_alike(
    project: Path, tmp_path: Path, stdin: Callable[[bytes], None], capsys: Capture
) -> None:
    expected_output = "".join(
        f"{t}\n" for t in expected(project, config.load().task("en-de").search)
    )
    assert expected_output.strip()
    lines = "".join(f"{sentence}\n" for sentence in SENTENCES)
    (tmp_path / "in.txt").write_text(lines)
    stdin(lines.encode())
    for arguments in (SENTENCES, ["--input", str(tmp_path / "in.txt")], []):
        main(["translate", RUN, *arguments])
        assert capsys.readouterr() == (expected_output, "")


def test_words_that_the_vocabulary_hardly_has_are_named(project: Path, capsys: Capture) -> None:
    main(["translate", RUN, *SENTENCES[:1], "A quetzalcoatlus sleeps.", "A dog 漢字, zyzzyvas"])
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 3
    assert printed.err == (
        "the sentences given, line 2: words that the model hardly knows: quetzalcoatlus\n"
        "the sentences given, line 3: words that the model hardly knows: 漢字, zyzzyvas\n"
    )
    main(["translate", RUN, *["漢字"] * 12])
    assert capsys.readouterr().err.endswith("given: 2 more lines with such words\n")


@pytest.mark.slow
def test_a_reader_that_stops_early_gets_no_error(project: Path) -> None:
    source = Path(__file__).parents[3] / "src"
    process = subprocess.Popen(
        [sys.executable, "-m", "aiayn", "translate", RUN, *SENTENCES],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    error_text = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), error_text) == (1, b"")


@pytest.mark.parametrize(
    ("command", "run"), [("translate", RUN), ("parse", PARSER), ("classify", CLASSIFIER)]
)
def test_a_line_of_too_many_pieces_is_reported_and_left_empty(
    project: Path, stdin: Callable[[bytes], None], capsys: Capture, command: str, run: str
) -> None:
    """Attention over 30,000 pieces would take 28.8 GB."""
    lines = [SENTENCES[0], "z " * 30_000, SENTENCES[1]]
    stdin("\n".join([lines[0], "", lines[2]]).encode())
    main([command, run])
    expected_output = capsys.readouterr().out
    stdin("\n".join(lines).encode())
    with pytest.raises(SystemExit, match="^1$"):
        main([command, run])
    printed = capsys.readouterr()
    assert printed.out == expected_output
    assert printed.out.split("\n")[1] == ""
    assert re.fullmatch(
        r"stdin, line 2 has 60,00[01] pieces; the limit is 4,096. Split it into sentences.\n",
        printed.err,
    )


def test_only_lines_of_too_many_pieces(project: Path) -> None:
    with pytest.raises(
        SystemExit, match="DataError: the sentences given: all sentences are empty or too long"
    ):
        main(["translate", RUN, "z " * 5000])
    with pytest.raises(DataError, match="^sentence 2 has 10,001 pieces"):
        TrainedRun(RUN).translate(["", "z " * 5000])


def test_a_windows_file_is_read_as_the_same_text(
    project: Path, stdin: Callable[[bytes], None], capsys: Capture
) -> None:
    """It begins with a byte order mark and ends lines with CR and LF."""
    text = "".join(f"{sentence}\n" for sentence in SENTENCES)
    outputs = []
    for content in (text.encode(), text.replace("\n", "\r\n").encode("utf-8-sig")):
        stdin(content)
        main(["translate", RUN])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 2


@pytest.mark.slow
def test_output_is_utf8_whatever_the_locale(project: Path) -> None:
    source = Path(__file__).parents[3] / "src"
    ascii_locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    code = (
        "import aiayn.trained_run as t; t.translate = lambda *a: list(a[2])\n"
        f"from aiayn.commands import main; main(['translate', {RUN!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="café\n".encode(),
        capture_output=True,
        check=False,
        env={**os.environ, **ascii_locale, "PYTHONPATH": str(source)},
    )
    assert (done.returncode, done.stdout) == (0, "café\n".encode())
    assert done.stderr == b"stdin, line 1: words that the model hardly knows: caf\\xe9\n"


def test_bytes_that_are_not_utf8_are_a_one_line_error(
    project: Path, stdin: Callable[[bytes], None]
) -> None:
    stdin(b"a\xff\n")
    with pytest.raises(SystemExit, match="DataError: stdin: not UTF-8 at byte 1"):
        main(["translate", RUN])


def test_sentences_from_a_pipe(project: Path, tmp_path: Path, capsys: Capture) -> None:
    main(["translate", RUN, *SENTENCES])
    expected_output = capsys.readouterr()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "".join(f"{sentence}\n" for sentence in SENTENCES)
    writer = threading.Thread(target=pipe.write_text, args=[content])
    writer.start()
    main(["translate", RUN, "--input", str(pipe)])
    writer.join()
    assert capsys.readouterr() == expected_output
