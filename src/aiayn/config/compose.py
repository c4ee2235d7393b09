"""params.yaml out of conf/: composed by Hydra as `dvc exp run` does, and validated before it is
written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import MissingConfigException
from omegaconf import OmegaConf

from aiayn import config
from aiayn.config.rules import named
from aiayn.errors import ConfigError
from aiayn.files import write_atomically
from aiayn.typed import nearest

CONF = Path("conf")
ROOT = CONF / "config.yaml"
LAUNCHERS = CONF / "launcher"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def write_params(
    root: Path,
    scale: str | None = None,
    launcher: str | None = None,
    gpus: str | None = None,
    folder: Path | None = None,
) -> None:
    """Write the parameters of a project; the former ones stay if anything is wrong.

    Args:
        root: the project's folder.
        scale: a file of conf/scale; None: the one that conf/config.yaml names.
        launcher: a file of conf/launcher; None: the one that the scale names.
        gpus: how many the launcher gives a training, on each machine; None: as many as it names.
        folder: of the scale; None: the project's.
    Raises:
        ConfigError: a file of conf/ cannot be read, asks for one that is not there, or sets what is
            no parameter; the launcher has no GPUs; or the parameters contradict each other.
    """
    overrides = {"scale": scale, "launcher": launcher, "launcher.gpus": gpus}
    for key, name in overrides.items():
        if name is not None:
            named(name, key)
    given = {
        path.relative_to(root): _read(path, path.relative_to(root))
        for path in sorted((root / CONF).rglob("*.yaml"))
    }
    if ROOT not in given:
        raise ConfigError(f"{ROOT}: there is no such file. Run from the project's folder.")
    asked = [f"{key}={name}" for key, name in overrides.items() if name is not None]
    content = _composed(root, given, asked)
    try:
        config.parse(content)
    except ConfigError as error:
        key, composed = str(error).split(" ")[0], config.read_yaml(content)
        raise ConfigError(f"{_place(key, given, composed.get('scale'))}: {error}") from error
    write_atomically((folder or root) / config.PARAMS, content)


def _read(path: Path, place: Path) -> Any:
    content = path.read_bytes()
    if content.startswith(BYTE_ORDER_MARK):
        raise ConfigError(
            f"{place}: begins with a byte order mark, which would hide its first line. "
            "Save it as UTF-8 without one."
        )
    try:
        return config.read_yaml(content)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error


def _composed(root: Path, given: Mapping[Path, Any], overrides: Sequence[str]) -> bytes:
    conf = (root / CONF).resolve()
    try:
        with initialize_config_dir(str(conf), version_base=None):
            composed = compose(ROOT.stem, [*overrides])
        OmegaConf.resolve(composed)
        return OmegaConf.to_yaml(composed).encode()
    except MissingConfigException as error:
        missing = str(error.missing_cfg_file)
        raise ConfigError(
            f"{CONF}/{missing}.yaml: there is no such file."
            f"{nearest(missing.rpartition('/')[2], error.options or ())}"
        ) from error
    except Exception as error:  # Hydra and what it stands on raise errors of every family
        if "Could not override 'launcher.gpus'" in str(error):
            raise ConfigError(_without_gpus(given)) from error
        complaint = " ".join(f"{error} {error.__cause__ or ''}".split())
        raise ConfigError(f"{CONF}: {complaint}.".replace(str(conf), str(CONF))) from error


def _without_gpus(given: Mapping[Path, Any]) -> str:
    """What is said where GPUs are asked of a launcher that has no number of them."""
    files = [file for file in given if file.parent == LAUNCHERS]
    able = [file.stem for file in files if "launcher.gpus" in _keys(file, given[file])]
    return (
        "launcher.gpus is given, but the launcher in force has none. Leave GPUS out, or choose one "
        f"that has: LAUNCHER={', '.join(able)}."
    )


def _place(key: str, given: Mapping[Path, Any], scale: Any) -> Path:
    """The file of conf/ that sets a key; that of the scale where none does, because something is
    missing or because two files contradict each other."""
    path = CONF / "scale" / f"{scale}.yaml"
    used = [*_used(ROOT, given), *_used(path, given)]
    setting = [file for file in used if key in _keys(file, given[file])]
    return setting[-1] if setting else path if path in given else ROOT


def _used(path: Path, given: Mapping[Path, Any]) -> Iterator[Path]:
    """A file of conf/ that is there, and those that its list of defaults names by their place."""
    if path not in given:
        return
    yield path
    for entry in given[path].get("defaults", ()):
        for group, names in entry.items() if isinstance(entry, dict) else ():
            for name in names if isinstance(names, list) else [names]:
                if str(group).startswith("/"):
                    yield from _used(CONF / str(group).strip("/") / f"{name}.yaml", given)


def _keys(path: Path, data: Any) -> set[str]:
    """Every dotted key that a file sets; what it sets stands below its folder's name, but for the
    files of scales and the root, which set keys of all sections."""
    folder = "" if path == ROOT or path.parent.name == "scale" else f"{path.parent.name}."
    return {f"{folder}{key}" for key in _flat(data)}


def _flat(data: Any) -> Iterable[str]:
    for name, value in data.items() if isinstance(data, dict) else ():
        yield str(name)
        yield from (f"{name}.{key}" for key in _flat(value))
