"""Mistakes in conf/: one line that names the file, and params.yaml stays as it was."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from aiayn import config
from aiayn.config.compose import write_params
from aiayn.errors import ConfigError

ROOT = Path(__file__).parents[3]
DEMO, TASKS = "conf/scale/demo.yaml", "conf/tasks/demo.yaml"
WARMUP = "warmup_steps: 200"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with only conf/ and previous parameters."""
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    (tmp_path / "params.yaml").write_text("former\n")
    return tmp_path


@pytest.mark.parametrize("scale", [None, "multi30k"])
def test_the_composed_parameters_are_those_of_the_scale(project: Path, scale: str | None) -> None:
    write_params(project, scale)
    assert yaml.load((project / "params.yaml").read_text(), yaml.CSafeLoader)["scale"] == (
        scale or "demo"
    )


def test_another_launcher(project: Path) -> None:
    """It replaces the scale's, with another number of GPUs."""
    write_params(project, "wmt14", "slurm", "4")
    composed = yaml.load((project / "params.yaml").read_text(), yaml.CSafeLoader)
    assert composed["launcher"]["command"].startswith(
        "bash {project}/conf/launcher/scripts/slurm.sh {stage}"
    )
    assert composed["launcher"]["gpus"] == 4
    assert composed["scale"] == "wmt14"


@pytest.mark.parametrize("launcher", [None, "here"])
def test_gpus_for_a_launcher_without_gpus(project: Path, launcher: str | None) -> None:
    message = (
        "launcher.gpus is given, but the current launcher has no GPUs. Leave out GPUS, or choose a "
        "launcher that has them: LAUNCHER=gpu_each, ray, slurm, torchrun."
    )
    assert error_message(project, "demo", launcher, "4") == message


def test_a_launcher_that_does_not_exist(project: Path) -> None:
    with pytest.raises(
        ConfigError, match="conf/launcher/slrum.yaml: there is no such file. Did you"
    ):
        write_params(project, launcher="slrum")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "conf/launcher").glob("*.yaml")), ids=lambda p: p.stem
)
def test_every_launcher(project: Path, path: Path) -> None:
    """It is valid, and the scripts that it names exist."""
    write_params(project, launcher=path.stem)
    launcher = config.load(project / "params.yaml").launcher
    for command in (launcher.command, launcher.single):
        for name in re.findall(r"(?<={project}/)conf/\S+", command or ""):
            assert (ROOT / name).is_file()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (DEMO, "\n  warmup_steps", "\n\twarmup_steps", f"{DEMO}: not YAML: while scanning"),
        (DEMO, WARMUP, "warmup_steps: !!python/object/apply:os.system [ls]", f"{DEMO}: not YAML: could not determine a constructor for the tag"),
        (DEMO, "# @package", "\ufeff# @package", f"{DEMO}: begins with a byte order mark, which would hide its first line. Save it as UTF-8 without BOM."),
        (DEMO, WARMUP, "warmup_step: 200", f"{DEMO}: training.warmup_step is not a known key. Did you mean warmup_steps?"),
        (DEMO, WARMUP, "warmup_steps: ${nope}", "conf: Interpolation key 'nope' not found"),
        (DEMO, WARMUP, f"{WARMUP}\n  {WARMUP}", f"conf: while constructing a mapping in \"{DEMO}\", line "),
        (DEMO, "- /tasks: demo", "- /tasks: demoo", "conf/tasks/demoo.yaml: there is no such file. Did you mean demo?"),
        (DEMO, "- /tasks: demo", "- 7", "conf: Unsupported type in defaults : int."),
        (DEMO, "  en-de.big: {", "  ../../evil: {", f"{DEMO}: runs has the invalid name '../../evil'."),
        (TASKS, "vocabulary: 1000", "vocabluary: 1000", f"{TASKS}: tasks.en-de.bpe.vocabluary is not a known key. Did you mean vocabulary?"),
        (TASKS, "alpha: 0.6", "alpha: .nan", f"{TASKS}: tasks.en-de.decoding.alpha must be a finite number"),
        ("conf/config.yaml", "\nprofiling:", "\nprofilling:", "conf/config.yaml: profilling is not a known key. Did you mean profiling?"),
        ("conf/config.yaml", "  heads: 8", "", f"{DEMO}: profiling.heads is missing."),
    ],
)  # fmt: skip
def test_a_mistake(project: Path, file: str, old: str, new: str, message: str) -> None:
    path = project / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert error_message(project).startswith(message)


def test_a_scale_that_does_not_exist(project: Path) -> None:
    message = "conf/scale/demmo.yaml: there is no such file. Did you mean demo?"
    assert error_message(project, "demmo") == message


@pytest.mark.parametrize("scale", ["../demo", "demo,wmt14", "demo; touch f", ""])
def test_an_invalid_name_of_a_scale(project: Path, scale: str) -> None:
    assert error_message(project, scale).startswith(f"scale has the invalid name {scale!r}.")


def test_a_file_that_is_not_utf8(project: Path) -> None:
    with (project / TASKS).open("ab") as file:
        file.write(b"# gr\xfc\xdfe\n")
    assert error_message(project).startswith(f"{TASKS}: not YAML: ")


def test_without_conf(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("former\n")
    message = "conf/config.yaml: there is no such file. Run from the project's folder."
    assert error_message(tmp_path) == message


def error_message(
    project: Path, scale: str | None = None, launcher: str | None = None, gpus: str | None = None
) -> str:
    with pytest.raises(ConfigError) as caught:
        write_params(project, scale, launcher, gpus)
    message = str(caught.value)
    assert "\n" not in message
    assert (project / "params.yaml").read_text() == "former\n"
    return message
