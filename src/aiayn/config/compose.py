"""params.yaml from conf/: composed by Hydra and validated before writing.

DVC's own composition is off (.dvc/config): it would write the demo's parameters into the folder of
any scale in which `dvc exp run` is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from hydra.errors import MissingConfigException
from omegaconf import OmegaConf

from aiayn import config
from aiayn.errors import ConfigError
from aiayn.files import write_atomically
from aiayn.validation import check_name, nearest

CONF = Path("conf")
ROOT = CONF / "config.yaml"
LAUNCHERS = CONF / "launcher"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Files = Mapping[Path, Any]
"""The content of each file of conf/, by its path relative to the project's folder."""


def write_params(
    root: Path,
    scale: str | None = None,
    launcher: str | None = None,
    gpus: str | None = None,
    folder: Path | None = None,
) -> None:
    """Write the parameters of a scale; on an error the file is left unchanged.

    Args:
        root, scale, launcher, gpus: as for `compose_params`.
        folder: the scale's folder; None: the project's.
    Raises:
        ConfigError: as `compose_params`.
    """
    content = compose_params(root, scale, launcher, gpus)
    write_atomically((folder or root) / config.PARAMS, content)


def compose_params(
    root: Path, scale: str | None = None, launcher: str | None = None, gpus: str | None = None
) -> bytes:
    """The content of params.yaml.

    Args:
        root: the project's folder.
        scale: a file of conf/scale; None: the one that conf/config.yaml names.
        launcher: a file of conf/launcher; None: the one that the scale names.
        gpus: GPUs of a training per machine; None: the launcher's default.
    Raises:
        ConfigError: a file of conf/ cannot be read, names one that does not exist, or sets an
            unknown parameter; the launcher has no GPUs; or the parameters contradict each other.
    """
    arguments = {"scale": scale, "launcher": launcher, "launcher.gpus": gpus}
    overrides = {key: name for key, name in arguments.items() if name is not None}
    for key, name in overrides.items():
        try:
            check_name(name)
        except ValueError as error:
            raise ConfigError(f"{key} {error}") from None
    paths = sorted((root / CONF).rglob("*.yaml"))
    files = {path.relative_to(root): _read(path, path.relative_to(root)) for path in paths}
    if ROOT not in files:
        raise ConfigError(f"{ROOT}: there is no such file. Run from the project's folder.")
    content = _composed(root, files, [f"{key}={name}" for key, name in overrides.items()])
    try:
        return _with_digests(root, content)
    except ConfigError as error:
        key, composed = str(error).split(" ")[0], config.read_yaml(content)
        raise ConfigError(f"{_origin(key, files, composed.get('scale'))}: {error}") from error


def _with_digests(root: Path, content: bytes) -> bytes:
    """Valid parameters, with the digest of every file of the user's own that is there.

    Raises:
        ConfigError: they are not valid.
    """
    corpora = config.parse(content).catalogue.corpora
    if not any(corpus.own_files for corpus in corpora.values()):
        return content
    params = config.read_yaml(content)
    for corpus in params["catalogue"]["corpora"].values():
        for side in (corpus.get("sides") or corpus.get("labelled", {}).get("texts") or {}).values():
            path = root / (side.get("file") or "")
            if path.is_file():
                side["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return yaml.safe_dump(params, sort_keys=False, allow_unicode=True).encode()


def _read(path: Path, name: Path) -> Any:
    content = path.read_bytes()
    if content.startswith(BYTE_ORDER_MARK):
        raise ConfigError(
            f"{name}: begins with a byte order mark, which would hide its first line. "
            "Save it as UTF-8 without BOM."
        )
    try:
        return config.read_yaml(content)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error


def _composed(root: Path, files: Files, overrides: Sequence[str]) -> bytes:
    """The parameters as Hydra composes them, not yet validated."""
    conf = str((root / CONF).resolve())
    try:
        with initialize_config_dir(conf, version_base=None):
            composed = compose(ROOT.stem, [*overrides])
        OmegaConf.resolve(composed)
        return OmegaConf.to_yaml(composed).encode()
    except MissingConfigException as error:
        missing = str(error.missing_cfg_file)
        raise ConfigError(
            f"{CONF}/{missing}.yaml: there is no such file."
            f"{nearest(missing.rpartition('/')[2], error.options or ())}"
        ) from error
    except Exception as error:  # Hydra and its libraries raise errors of unrelated types
        if "Could not override 'launcher.gpus'" in str(error):
            suitable = [
                path.stem
                for path, launcher in files.items()
                if path.parent == LAUNCHERS and "gpus" in (launcher or ())
            ]
            raise ConfigError(
                "launcher.gpus is given, but the current launcher has no GPUs. Leave out GPUS, or "
                f"choose a launcher that has them: LAUNCHER={', '.join(suitable)}."
            ) from error
        reason = " ".join(f"{error} {error.__cause__ or ''}".split()).replace(conf, str(CONF))
        raise ConfigError(f"{CONF}: {reason}.") from error


def _origin(key: str, files: Files, scale: Any) -> Path:
    """The file of conf/ that sets a key; the scale's file if none does (a key is missing, or two
    files contradict each other)."""
    path = CONF / "scale" / f"{scale}.yaml"
    used = [*_used(ROOT, files), *_used(path, files)]
    setting = [file for file in used if key in _keys(file, files[file])]
    return setting[-1] if setting else path if path in files else ROOT


def _used(path: Path, files: Files) -> Iterator[Path]:
    """A file of conf/, if it exists, and the files in its defaults list with an absolute path."""
    if path not in files:
        return
    yield path
    for entry in files[path].get("defaults", ()):
        for group, names in entry.items() if isinstance(entry, dict) else ():
            for name in names if isinstance(names, list) else [names]:
                if str(group).startswith("/"):
                    yield from _used(CONF / str(group).strip("/") / f"{name}.yaml", files)


def _keys(path: Path, data: Any) -> set[str]:
    """Every dotted key that a file sets. Keys are below the name of the file's folder, except those
    of scales and of the root, which set keys of all sections."""
    folder = "" if path == ROOT or path.parent.name == "scale" else f"{path.parent.name}."
    return {f"{folder}{key}" for key in _dotted(data)}


def _dotted(data: Any) -> Iterator[str]:
    for name, value in data.items() if isinstance(data, dict) else ():
        yield str(name)
        yield from (f"{name}.{key}" for key in _dotted(value))
