"""Where a scale's files are, and how a published reproduction continues there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from aiayn import config
from aiayn.commands.repro.scale_folder import copy_reproduction, folder_of, main, prepare
from aiayn.config import dvc_yaml
from aiayn.config.compose import write_params
from aiayn.errors import ConfigError
from aiayn.results import paths

ROOT = Path(__file__).parents[3]


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with only what a scale's folder needs, as the current folder."""
    for name in ("conf", "pipeline", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scale_in(folder: Path) -> str:
    return config.load(folder / "params.yaml").scale


def test_the_demo_uses_the_top_folder_and_other_scales_their_own(top: Path) -> None:
    assert prepare(Path()) == prepare(Path(), "demo") == Path()
    folder = prepare(Path(), "copy")
    assert folder == Path("scales/copy")
    assert (scale_in(Path()), scale_in(folder)) == ("demo", "copy")
    assert paths.project(folder).resolve() == top
    assert paths.project() == Path()


def test_its_stages_are_those_of_the_project(top: Path) -> None:
    folder = prepare(Path(), "copy")
    changed = {
        (ours, theirs)
        for ours, theirs in zip(
            (folder / "dvc.yaml").read_text().splitlines(),
            Path("dvc.yaml").read_text().splitlines(),
            strict=True,
        )
        if ours != theirs
    }
    assert changed == {("  - root: ../..", "  - root: .")}
    code = dvc_yaml.code("train", folder / "dvc.yaml")
    assert code
    assert all((folder / path).exists() for path in code)
    assert dvc_yaml.code_digest("train", folder / "dvc.yaml") == dvc_yaml.code_digest("train")


def test_changed_parameters_are_composed_again(top: Path) -> None:
    folder = prepare(Path(), "multi30k", launcher="slurm", gpus="4")
    assert config.load(folder / "params.yaml").launcher.gpus == 4
    prepare(Path(), "multi30k")
    assert config.load(folder / "params.yaml").launcher.gpus is None


def test_a_change_of_conf_that_is_not_composed_is_said(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make repro` without SCALE keeps params.yaml, which a sweep or an experiment may have
    changed."""
    prepare(Path(), launcher="torchrun")
    prepare(Path())
    assert capsys.readouterr().err == ""
    (top / "conf").unlink()
    shutil.copytree(ROOT / "conf", top / "conf")
    scale = top / "conf/scale/demo.yaml"
    new = "runs:\n  en-de.new: {task: en-de, model: base, seed: 9}\n"
    scale.write_text(scale.read_text().replace("runs:\n", new, 1))
    before = (top / "params.yaml").read_bytes()
    prepare(Path())
    assert "run make params" in capsys.readouterr().err
    assert (top / "params.yaml").read_bytes() == before
    prepare(Path(), "demo")
    prepare(Path())
    assert capsys.readouterr().err == ""
    assert "en-de.new" in config.load(top / "params.yaml").runs


@pytest.mark.parametrize("content", ["", "[]", "scale: 3"])
def test_an_invalid_params_yaml_is_one_line(top: Path, content: str) -> None:
    (top / "params.yaml").write_text(content)
    with pytest.raises(ConfigError, match=r"^params\.yaml: [^\n]*$"):
        prepare(Path())


def test_another_launcher_alone_keeps_the_scale_of_the_top_folder(top: Path) -> None:
    write_params(Path(), "multi30k")
    assert prepare(Path(), launcher="torchrun") == Path()
    assert scale_in(Path()) == "multi30k"
    assert "torchrun" in (config.load().launcher.command or "")


@pytest.mark.parametrize("scale", ["../..", "a/b", "x; touch f", "", "demmo"])
def test_a_scale_that_does_not_exist_leaves_no_folder(top: Path, scale: str) -> None:
    with pytest.raises(ConfigError):
        prepare(Path(), scale)
    assert not Path("scales").exists()


def test_git_ignores_all_but_the_files_that_dvc_needs(top: Path) -> None:
    shutil.copy(ROOT / ".gitignore", top)
    subprocess.run(["git", "init", "-q"], check=True)
    (prepare(Path(), "copy") / "scores").mkdir()
    for name in ("dvc.lock", "scores/copy.base.json"):
        Path("scales/copy", name).touch()
    command = ["git", "ls-files", "--others", "--exclude-standard", "scales"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    needed = ("dvc.lock", "dvc.yaml", "params.yaml")  # a clone needs all three to read the graph
    assert listed.split() == [f"scales/copy/{name}" for name in needed]


@pytest.fixture
def reproduction(top: Path) -> Path:
    folder = Path("reproductions/my-copy")
    (folder / "scores").mkdir(parents=True)
    write_params(Path(), "copy", folder=folder)
    for name in ("README.md", "dvc.lock", "scores/copy.base.json"):
        (folder / name).write_text(name)
    return folder


def test_a_reproduction_continues_in_a_folder_with_its_name(
    reproduction: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_reproduction(Path(), reproduction)
    assert folder == Path("scales/my-copy")
    assert "without data and weights" in capsys.readouterr().err
    assert scale_in(folder) == "copy"
    assert (folder / "scores/copy.base.json").exists()
    assert not (folder / "README.md").exists()
    assert yaml.safe_load((folder / "dvc.yaml").read_text())["vars"] == [{"root": "../.."}]
    # when started again, nothing overwrites newer files
    (folder / "scores/copy.base.json").write_text("newer")
    assert copy_reproduction(Path(), reproduction) == folder
    assert (folder / "scores/copy.base.json").read_text() == "newer"
    write_params(Path(), "demo", folder=folder)
    with pytest.raises(ConfigError, match="scales/my-copy exists, with other parameters"):
        copy_reproduction(Path(), reproduction)


def test_a_folder_that_is_no_reproduction(top: Path) -> None:
    with pytest.raises(ConfigError, match="reproductions/x/params.yaml: there is no such file"):
        copy_reproduction(Path(), Path("reproductions/x"))


def test_an_existing_folder_is_not_changed(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["scale_folder", "--scale=copy", "--existing"])
    with pytest.raises(
        SystemExit, match="scales/copy has no params.yaml. Run make repro SCALE=copy"
    ):
        main()
    (prepare(Path(), "copy") / "params.yaml").write_text("as it is")
    main()
    assert capsys.readouterr().out == "scales/copy\n"
    assert (folder_of(Path(), "copy") / "params.yaml").read_text() == "as it is"
