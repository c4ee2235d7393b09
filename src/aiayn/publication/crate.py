"""A reproduction described as an RO-Crate, by the profile Process Run Crate 0.5.

One CreateAction for each stage that dvc.lock records: its instrument is the stage's code, its
objects what it read and its parameters, its results what it wrote. When, where, by which versions
and of which commit is told of trainings, whose circumstances are recorded, and of nothing else.
What does not lie in the folder, weights and data above all, stands there by its digest, and a
download by its URL too.

https://www.researchobject.org/workflow-run-crate/profiles/process_run_crate/
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocrate.rocrate import ROCrate

from aiayn.config import PARAMS, read_yaml
from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.publication.folder import stages
from aiayn.publication.materials import Materials, corpora_of, downloads_of, reference
from aiayn.records import circumstances, places
from aiayn.records.circumstances import TrainCircumstances

METADATA = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TERMS = "https://w3id.org/ro/terms/workflow-run#"
MIT = "https://spdx.org/licenses/MIT"
PYTHON = "https://www.python.org/"
SETTINGS = ("device", "host", "processes", "threads", "precision", "matmul")
ALONGSIDE = (PARAMS.name, places.LOCK.name, "README.md")  # files of the folder that no stage wrote


def write_crate(reproduction: Path) -> Path:
    """Write the metadata into the folder of a reproduction, and nothing else. Returns its place.

    The same folder gives the same bytes: it is dated by the end of its last training.

    Raises:
        DataError: the folder is no reproduction, or a file in it is damaged.
    """
    for name in (PARAMS.name, places.LOCK.name):
        if not (reproduction / name).is_file():
            raise DataError(
                f"{reproduction}: is no reproduction: {name} is missing. Give a folder like "
                f"{places.REPRODUCTIONS}/demo."
            )
    path = reproduction / METADATA
    content = json.dumps(_Crate(reproduction).content(), indent=2, ensure_ascii=False)
    write_atomically(path, content + "\n")
    return path


class _Crate:
    """The metadata of one folder, as it grows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._crate = ROCrate(version="1.1")  # what the profile stands on
        self._crate.metadata.extra_terms |= {
            name: TERMS + name for name in ("environment", "md5", "sha256")
        }
        self._materials = Materials(self._crate, folder)
        self._licences: dict[str, None] = {MIT: None}
        self._ended: list[str] = []

    def content(self) -> Mapping[str, Any]:
        """All of it, as JSON-LD."""
        self._name(MIT, "CreativeWork", name="MIT License", identifier=MIT)
        self._name(PYTHON, "ComputerLanguage", name="Python", url=PYTHON)
        for name in ALONGSIDE:
            if (self._folder / name).is_file():
                self._materials.file(name)
        actions = [self._action(name, entry) for name, entry in stages(self._folder).items()]
        if not self._ended:
            raise DataError(
                f"{self._folder}: no training of dvc.lock has its circumstances here. Publish it "
                "again: make publish."
            )
        self._about(actions)
        content: Mapping[str, Any] = self._crate.metadata.generate()
        return content

    def _about(self, actions: Iterable[str]) -> None:
        """The root: what the folder is, by which profile, on what terms."""
        scale = read_yaml((self._folder / PARAMS).read_bytes()).get("scale")
        self._name(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
        root = self._crate.root_dataset
        root["name"] = f'"Attention Is All You Need", reproduced: {self._folder.resolve().name}'
        root["description"] = (
            f"The project aiayn at the scale {scale}: {len(self._ended)} trainings and what came "
            "of them, every stage of the graph with the digests of what it read and wrote. Weights "
            "are not here. Text in it is on its own terms."
        )
        root["datePublished"] = max(self._ended)[:10]
        root["license"] = _refer(self._licences)
        root["conformsTo"] = reference(PROFILE)
        root["mentions"] = _refer(actions)

    def _action(self, name: str, entry: Mapping[str, Any]) -> str:
        """What a stage did. Returns its id."""
        stage, _, item = name.partition("@")
        facts: dict[str, Any] = {}
        instruments, objects = [], []
        for dep in entry.get("deps") or ():
            if dep["path"].startswith(f"{places.CODE}/"):
                instruments.append(self._code(stage, str(dep["md5"])))
            else:
                objects.append(self._materials.of(dep))
        results = [self._materials.of(out) for out in entry.get("outs") or ()]
        trained = self._trained(item, entry) if stage == "train" else None
        if trained:
            instruments += self._software(trained)
            facts |= {"startTime": trained.started, "endTime": trained.ended}
            facts["environment"] = _refer(self._settings(trained))
        params = (entry.get("params") or {}).get(PARAMS.name) or {}
        if stage == "download":
            objects += self._downloads(params, results)
        objects += [self._param(key, value) for key, value in params.items() if key != "catalogue"]
        return self._name(
            f"#{name}",
            "CreateAction",
            name=name,
            description=str(entry.get("cmd", name)),
            instrument=_refer(instruments),
            **({"object": _refer(objects)} if objects else {}),
            **({"result": _refer(results)} if results else {}),
            **facts,
        )

    def _trained(self, run: str, entry: Mapping[str, Any]) -> TrainCircumstances | None:
        """Of a training that dvc.lock records: not those of another, should such lie there."""
        place = places.train_circumstances(run)
        path = self._folder / place
        locked = {out["path"]: out.get("md5") for out in entry.get("outs") or ()}
        if not path.is_file() or locked.get(place.as_posix()) != _md5(path):
            return None
        held = circumstances.read_train(path)
        self._ended.append(held.ended)
        return held

    def _code(self, stage: str, md5: str) -> str:
        return self._name(
            f"#{places.CODE / stage}@{md5[:12]}",
            "SoftwareSourceCode",
            name=f"pipeline/{stage}.py and the modules that it reaches",
            description=f"The files below {places.CODE / stage}, of which DVC made this digest.",
            version=md5,
            programmingLanguage=reference(PYTHON),
        )

    def _software(self, trained: TrainCircumstances) -> Iterator[str]:
        """The project at its commit, Python, and the packages that were recorded."""
        yield self._name(
            f"#aiayn@{trained.commit}",
            "SoftwareApplication",
            name="aiayn",
            softwareVersion=trained.commit,
            description="The project at this commit; -dirty where files differed from it.",
        )
        versions = {"Python": trained.python, **trained.versions}
        for package, version in versions.items():
            known = {"url": PYTHON}
            if package != "Python":
                known = {"identifier": f"pkg:pypi/{package}@{version}"}  # a package URL
            yield self._name(
                f"#{package}@{version}",
                "SoftwareApplication",
                name=package,
                softwareVersion=version,
                **known,
            )

    def _settings(self, trained: TrainCircumstances) -> Iterator[str]:
        for setting in SETTINGS:
            value = str(getattr(trained, setting))
            yield self._name(
                f"#{setting}={quote(value)}", "PropertyValue", name=setting, value=value
            )

    def _downloads(self, params: Mapping[str, Any], texts: Iterable[str]) -> list[str]:
        """What a task's text was fetched from; its terms become those of the text."""
        corpora, languages = corpora_of(params)
        found, licences = [], []
        for download in downloads_of(params, corpora, languages):
            terms = str(download["licence"])
            licence = self._name(f"#terms-{_short(terms)}", "CreativeWork", name=terms)
            found.append(self._materials.download(download, licence))
            licences.append(licence)
        if any("grammar" in corpus or "sequences" in corpus for corpus in corpora):
            licences.append(MIT)  # what the project makes by itself
        self._licences |= dict.fromkeys(licences)
        for text in texts:
            if licences:
                self._crate.dereference(text)["license"] = _refer(licences)
        return found

    def _param(self, key: str, value: Any) -> str:
        said = json.dumps(value, ensure_ascii=False, sort_keys=True)
        return self._name(
            f"#param-{key}-{_short(said)}", "PropertyValue", name=f"{PARAMS}: {key}", value=said
        )

    def _name(self, identifier: str, kind: str, /, **properties: Any) -> str:
        """An entity that is no file, once. Returns its id."""
        if self._crate.dereference(identifier) is None:
            self._crate.add_jsonld({"@id": identifier, "@type": kind, **properties})
        return identifier


def _refer(identifiers: Iterable[str]) -> Any:
    """References to entities, each once; one alone is no list."""
    references = [reference(identifier) for identifier in dict.fromkeys(identifiers)]
    return references[0] if len(references) == 1 else references


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
