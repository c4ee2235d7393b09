"""`aiayn crate`: what a stage read, wrote and was, as RO-Crate 1.1 and Process Run Crate 0.5 ask."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from requests.adapters import BaseAdapter

from aiayn.command import main
from aiayn.publication.crate import METADATA, PROFILE, write_crate
from aiayn.publication.materials import folder_md5

ROOT = Path(__file__).parents[2]
URL = "https://example.org/a_corpus/train.en.gz"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
CHECKER = "roc-validator is not installed: pip install roc-validator"


def entities(folder: Path) -> dict[str, dict[str, Any]]:
    """Those of the metadata, by id."""
    graph = json.loads((folder / METADATA).read_text(encoding="utf-8"))["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def referred(value: Any) -> list[str]:
    """The ids that a property's value refers to."""
    return [each["@id"] for each in (value if isinstance(value, list) else [value])]


def refused(folder: Path) -> str:
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as stopped:
        main(["crate", str(folder)])
    said = str(stopped.value.code)
    assert "\n" not in said
    assert sorted(folder.rglob("*")) == before
    return said


def test_what_is_no_reproduction_is_left_alone(reproduction: Path) -> None:
    (reproduction / "dvc.lock").unlink()
    assert f"{reproduction}: is no reproduction: dvc.lock is missing." in refused(reproduction)


def test_a_folders_digest_is_dvcs() -> None:
    folder = ROOT / "reproductions/multi30k"
    lock = yaml.load((folder / "dvc.lock").read_bytes(), yaml.CSafeLoader)["stages"]
    (out,) = (o for o in lock["report"]["outs"] if o["path"] == "reports/tables")
    assert folder_md5(folder / "reports/tables") == out["md5"]


def test_each_stage_is_an_action_with_what_it_read_and_wrote(
    reproduction: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["crate", str(reproduction)])
    assert capsys.readouterr().out == f"{reproduction / METADATA} describes it for programs.\n"
    held = entities(reproduction)
    actions = [held[i] for i in held if held[i]["@type"] == "CreateAction"]
    assert {a["name"] for a in actions} == {
        "download@en-de",
        "train@en-de.base",
        "score@en-de.base",
    }
    trained = held["#train@en-de.base"]
    assert trained["description"] == "python pipeline/train.py en-de.base --seed 1"
    assert (trained["startTime"], trained["endTime"]) == (
        "2026-01-02T03:04:05+00:00", "2026-01-02T03:05:05+00:00",
    )  # fmt: skip
    software = {held[i]["name"]: held[i] for i in referred(trained["instrument"])}
    assert software["aiayn"]["softwareVersion"] == "4f2a" * 10 + "-dirty"
    assert software["torch"]["softwareVersion"] == "2.13.0"
    assert software["Python"]["softwareVersion"] == "3.11.0"
    (code,) = (s for s in software.values() if s["@type"] == "SoftwareSourceCode")
    assert code["version"] == "2" * 32 + ".dir"
    settings = {held[i]["name"]: held[i]["value"] for i in referred(trained["environment"])}
    assert settings["device"] == "cpu: 2 x An Invented Processor"
    assert (settings["host"], settings["precision"]) == ("a-host", "float32")
    results = {held[i]["name"]: held[i] for i in referred(trained["result"])}
    assert results["history/en-de.base.csv"]["@type"] == "File"
    weights = results["models/en-de.base/checkpoints"]
    assert (weights["@type"], weights["identifier"]) == ("CreativeWork", "md5:" + "8" * 32 + ".dir")
    # one file, as what a stage wrote and as what the next one read
    scored = held["#score@en-de.base"]
    assert referred(scored["object"]) == ["history/en-de.base.csv"]
    assert "endTime" not in scored  # nobody wrote it down
    objects = [held[i] for i in referred(trained["object"])]
    assert {o.get("value") for o in objects} == {None, '{"warmup_steps": 800}'}


def test_data_stand_by_url_digest_and_licence(reproduction: Path) -> None:
    write_crate(reproduction)
    held = entities(reproduction)
    download = held["#download@en-de"]
    assert URL in referred(download["object"])
    assert "https://example.org/other" not in held  # of a language that the task does not read
    assert (held[URL]["@type"], held[URL]["sha256"]) == ("File", "a" * 64)
    assert (held[URL]["contentSize"], held[URL]["encodingFormat"]) == ("123", "application/gzip")
    assert held[referred(held[URL]["license"])[0]]["name"] == "research only"
    (text,) = referred(download["result"])
    # the training text's terms, and the project's own for what its grammar made
    terms = {held[i]["name"] for i in referred(held[text]["license"])}
    assert terms == {"research only", "MIT License"}
    assert {held[i]["name"] for i in referred(held["./"]["license"])} == terms


def test_what_the_profiles_demand(reproduction: Path) -> None:
    """Every MUST of RO-Crate 1.1 and Process Run Crate 0.5 that applies, read by hand."""
    write_crate(reproduction)
    held = entities(reproduction)
    descriptor, root = held[METADATA], held["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert referred(descriptor["about"]) == ["./"]
    assert referred(descriptor["conformsTo"]) == ["https://w3id.org/ro/crate/1.1"]
    assert root["@type"] == "Dataset"
    assert root["name"]
    assert root["description"]
    assert root["datePublished"] == "2026-01-02"
    assert held[PROFILE]["@type"] == "CreativeWork"
    assert referred(root["conformsTo"]) == [PROFILE]
    parts = set(referred(root["hasPart"]))
    data = {i for i in held if held[i]["@type"] in ("File", "Dataset")} - {"./"}
    assert data == parts
    for part in parts - {URL}:
        assert (reproduction / part).exists()
    actions = {i for i in held if held[i]["@type"] == "CreateAction"}
    assert set(referred(root["mentions"])) == actions
    kinds = {"SoftwareSourceCode", "SoftwareApplication"}
    for action in actions:
        assert {held[i]["@type"] for i in referred(held[action]["instrument"])} <= kinds
    for entity in held.values():
        for value in entity.values():
            values = value if isinstance(value, list) else [value]
            for each in values:
                if isinstance(each, dict) and entity is not descriptor:
                    assert each["@id"] in held


def test_a_file_of_other_bytes_is_not_passed_off_as_the_stages(reproduction: Path) -> None:
    (reproduction / "history/en-de.base.csv").write_text("step\n20\n")
    write_crate(reproduction)
    held = entities(reproduction)
    (read,) = referred(held["#score@en-de.base"]["object"])
    assert held[read]["@type"] == "CreativeWork"
    assert "history/en-de.base.csv" not in referred(held["./"]["hasPart"])


def test_circumstances_of_another_training_say_nothing_of_this(
    reproduction: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = reproduction / "circumstances/en-de.base.train.json"
    path.write_text(path.read_text().replace("a-host", "another"))
    assert "no training of dvc.lock has its circumstances here" in refused(reproduction)


class Bundled(BaseAdapter):
    """Answers every request with the context that rocrate comes with: that of RO-Crate 1.3, in
    which the terms used here mean what they mean in 1.1."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        import rocrate
        from urllib3 import HTTPResponse

        content = (Path(rocrate.__file__).parent / "data/ro-crate.jsonld").read_bytes()
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 200, str(request.url), request
        answer.headers["Content-Type"] = "application/ld+json"
        answer.raw = HTTPResponse(
            body=io.BytesIO(content), status=200, headers=dict(answer.headers),
            preload_content=False, request_url=request.url,
        )  # fmt: skip
        return answer

    def close(self) -> None:
        pass


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the validator's own
@pytest.mark.parametrize("name", ["demo", "multi30k"])
def test_the_validator_finds_all_that_is_required(name: str, tmp_path: Path) -> None:
    """Without a network: the context is laid into its cache."""
    pytest.importorskip("rocrate_validator", reason=CHECKER)
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings
    from rocrate_validator.utils.http import HttpRequester

    folder = tmp_path / name
    shutil.copytree(ROOT / "reproductions" / name, folder)
    path = write_crate(folder)
    first = path.read_bytes()
    assert write_crate(folder).read_bytes() == first
    cache = tmp_path / "cache"
    HttpRequester.initialize_cache(cache_path=str(cache), offline=False)
    requester = HttpRequester()
    requester.session.mount("https://", Bundled())
    assert requester.get(CONTEXT, headers={"Accept": "application/ld+json, application/json"}).ok

    def issues() -> list[str]:
        settings = ValidationSettings(
            rocrate_uri=str(folder), profile_identifier="process-run-crate", cache_path=cache,
            requirement_severity=Severity.REQUIRED, offline=True, skip_availability_check=True,
        )  # fmt: skip
        return [str(issue.message) for issue in services.validate(settings).get_issues()]

    assert issues() == []
    broken = json.loads(first)
    for entity in broken["@graph"]:
        if entity["@id"] == "#train@en-de.base":
            del entity["instrument"]
    path.write_text(json.dumps(broken))
    assert any("MUST have an instrument" in said for said in issues())
