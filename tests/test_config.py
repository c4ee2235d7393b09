"""Parameters are validated when loaded: an error is one line that names the key, the file and the
nearest name; params.yaml is what conf/ composes; every scale is valid."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.utils.hydra import compose_and_dump
from pydantic import ValidationError

from aiayn import config
from aiayn.config import Side
from aiayn.config.dvc_yaml import code_digest
from aiayn.errors import ConfigError
from aiayn.results.json_files import json_text

ROOT = Path(__file__).resolve().parent.parent
SCALES = sorted(path.stem for path in (ROOT / "conf/scale").glob("*.yaml"))
Params = dict[str, Any]
DOWNLOAD = {"url": "http://host/f", "checksum": f"sha256:{64 * '0'}", "licence": "none"}


@pytest.fixture(scope="module")
def params() -> Params:
    loaded: Params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    return loaded


@pytest.fixture
def error_message(params: Params, tmp_path: Path) -> Callable[[str, Any], str]:
    """The error for params.yaml with one key changed: set to a value, deleted (...), or added to its
    section as a copy of the first entry (None). A key is a/b, because run names contain dots."""

    def load_with(key: str, value: Any) -> str:
        changed = copy.deepcopy(params)
        if value is None:
            section, _, name = key.partition("/")
            *path, last = section, name
            value = next(iter(changed[section].values()))
        else:
            *path, last = key.split("/")
        mapping = changed
        for name in path:
            mapping = mapping[name]
        if value is ...:
            del mapping[last]
        else:
            mapping[last] = value
        file = tmp_path / "params.yaml"
        file.write_text(yaml.dump(changed, Dumper=yaml.CSafeDumper))
        with pytest.raises(ConfigError) as error:
            config.load(file)
        message = str(error.value)
        assert "\n" not in message
        assert str(file) in message
        return message

    return load_with


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_composes_and_is_valid(scale: str, tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    compose_and_dump(str(file), str(ROOT / "conf"), None, "config", "", [f"scale={scale}"])
    assert config.load(file).runs


def test_params_yaml_is_composed_from_conf(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    compose_and_dump(str(file), str(ROOT / "conf"), None, "config", "", [])
    assert (ROOT / "params.yaml").read_text() == file.read_text(), "compose it again: make params"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("training/warmup_step", 7, "training.warmup_step is not a known key. Did you mean warmup_steps?"),
        ("training/warmup_steps", ..., "training.warmup_steps is missing."),
        ("training/warmup_steps", "many", "training.warmup_steps must be a valid integer, not 'many'."),
        ("training/warmup_steps", True, "training.warmup_steps must be a valid integer, not True."),
        ("training/warmup_steps", 0, "training.warmup_steps must be greater than 0, not 0."),
        ("profiling/counts/n", [10, 20, 30], "profiling.counts.n has too few values to fit."),
        ("profiling/counts/k", [3, 4, 5, 7], "profiling.counts.k must be odd, to be centred."),
        ("profiling/counts/d", [64, 100, 128, 256], "profiling.counts.d must be a multiple of profiling.heads, 8."),
        ("profiling/clocks/n", [1], "profiling.clocks.n must be at least 2."),
        ("profiling/sentence_pieces", 0, "profiling.sentence_pieces must be greater than 0, not 0."),
        ("machine/device", "gpu", "machine.device must be 'auto', 'cpu' or 'cuda', not 'gpu'."),
        ("machine/threads", 0, "machine.threads must be greater than 0, not 0."),
        ("variations/interim_looks", [0], "variations.interim_looks[0] must be greater than 0, not 0."),
        (
            "variations/interim_looks",
            [5, 3],
            "variations.interim_looks must increase: numbers of seeds, the last one final.",
        ),
        ("variations/task", "who-acts", "variations.task is who-acts, a classification, which has no BLEU."),
        ("variations/base", "parser", "variations.base is parser, but no run of it on en-de is in runs."),
        ("models/v1.5", None, "models.v1.5"),
        ("variations/preregistration", {"commit": "1a2b3c4", "seeds": [1], "weights": "averaged", "splits": ["dev", "tset"], "margin_bleu": 0.5, "margin_log_perplexity": 0.03, "statements": {}}, "variations.preregistration.splits names the split 'tset', which does not exist. Did you mean test?"),
        ("variations/preregistration", {"commit": "1a2b3c4", "seeds": [1], "weights": "averaged", "splits": ["dev", "test"], "margin_bleu": 0.5, "margin_log_perplexity": 0.03, "statements": {}}, "runs.en-de.A_h1 has no averaged weights: add it to tested."),
        ("launcher/command", " ", "launcher.command is empty; write null, or a command like torchrun."),
        ("launcher/command", "torchrun '", "launcher.command cannot be read: No closing quotation."),
        ("launcher/command", "run {", "launcher.command cannot be read: Single '{' encountered in format string."),
        ("launcher/command", "run {gpu}", "launcher.command uses the unknown placeholder {gpu}. Known: {stage}, {scale}, {gpus}, {nodes}, {folder}, {project}, {python}. Write a literal brace twice."),
        ("launcher/command", "run {gpus}", "launcher.command uses {gpus}, but launcher.gpus is missing. Set it."),
        ("training/batch_tokens", 100, "too small for one sentence of max_length"),
        ("training/adam", 3, "training.adam must be a mapping, not 3."),
        ("training/adam/beta1", 1.5, "training.adam.beta1 must be less than 1, not 1.5."),
        ("training/adam/beta2", 1, "training.adam.beta2 must be less than 1, not 1."),
        ("training/adam/epsilon", 0, "training.adam.epsilon must be greater than 0, not 0."),
        ("models/base/P_drop", 1.0, "models.base.P_drop must be less than 1, not 1.0."),
        ("models/base/P_drop", "0.1", "models.base.P_drop must be a valid number, not '0.1'."),
        ("models/A_h1/d_model", 63, "models.A_h1.d_model must be even"),
        ("models/base/average", 41, "models.base.average is 41, but steps 800 with checkpoint_steps 20 give 40 to average; lower average or checkpoint_steps, or raise steps."),
        ("models/big/average", 36, "steps 700 with checkpoint_steps 20 give 35 to average; lower"),
        ("models/base/h", 0, "models.base.h must be greater than 0, not 0."),
        ("models/base/h", "8", "models.base.h must be a valid integer, not '8'."),
        ("models/base/h", 6, "models.base.h is 6, which does not divide d_model 64. Use"),
        ("models/base/positions", "rotary", "models.base.positions must be 'sinusoid', 'learned' or 'none', not 'rotary'."),
        ("runs/en-de.base/model", "bsae", "names the model 'bsae', which does not exist. Did you mean base?"),
        ("runs/en-de.base/task", "en-dd", "names the task 'en-dd', which does not exist. Did you mean en-de?"),
        ("tasks/en-de/text/dev", "demo-def", "names the corpus 'demo-def', which does not exist. Did you mean"),
        ("tasks/en-de/text/tests", {}, "tasks.en-de.text.tests needs a set named test."),
        ("tasks/en-de/text/train", "demo-train", "tasks.en-de.text.train must be a list, not 'demo-train'."),
        ("tasks/en-de/text/train", ["demo-train", "demo-train"], "tasks.en-de.text.train names the corpus 'demo-train' more than once; name it once."),
        ("tasks/en-de/decoding/alpha", -1, "tasks.en-de.decoding.alpha must be greater than or equal to 0, not -1."),
        ("catalogue/corpora/demo-dev", {}, "catalogue.corpora.demo-dev needs sides, a grammar, a treebank, labelled texts or sequences."),
        ("catalogue/corpora/demo-dev", {"treebank": {"files": ["*"]}}, "demo-dev.treebank needs download or folder."),
        ("catalogue/corpora/demo-dev", {"treebank": {"folder": "X", "files": []}}, "demo-dev.treebank.files needs at least one item, not []."),
        ("catalogue/corpora/demo-dev", {"treebank": {"folder": "X", "files": ["*"]}}, "tasks.en-de.text reads demo-dev, whose trees are for parsing."),
        ("tasks/en-de/kind", "parsing", "tasks.en-de.text.leaves is needed for parsing: tags, dummy or words."),
        ("tasks/parsing/kind", "translation", "tasks.parsing.text.leaves is for parsing, not translation."),
        ("tasks/parsing/text/form", "lowercased_tokens", "tasks.parsing.text.form is for translation, not parsing."),
        ("tasks/en-de/text/form", "lowercased", "tasks.en-de.text.form must be 'lowercased_tokens', not 'lowercased'."),
        ("catalogue/corpora/demo-dev", {"treebank": {"folder": "X", "files": ["*"], "division": "Y"}}, "demo-dev.treebank.division needs a download that it divides."),
        ("catalogue", {"downloads": {"x": DOWNLOAD}, "corpora": {"demo-dev": {"treebank": {"download": "x", "files": ["*"], "division": "Y"}}}}, "demo-dev.treebank.division names the download 'Y', which does not exist."),
        ("scale", "demo; touch f", "scale has the invalid name 'demo; touch f'. Use letters, digits, '_', '-' and '.', at most 100"),
        ("tasks/../t", None, "tasks has the invalid name '../t'."),
        ("tasks/en-de/text/tests/dev.greedy", "demo-test", "tasks.en-de.text.tests.dev.greedy contains a '.'; rename it."),
        ("tasks/en-de/text/tests/a b", "demo-test", "tasks.en-de.text.tests has the invalid name 'a b'."),
        ("tasks/en-de/text/source", "../en", "tasks.en-de.text.source has the invalid name '../en'."),
        ("models/$(f)", None, "models has the invalid name '$(f)'."),
        ("runs/../../evil", None, "runs has the invalid name '../../evil'."),
        ("runs/x; touch f;", None, "runs has the invalid name 'x; touch f;'."),
        ("runs/a\nb", None, "runs has the invalid name 'a\\nb'."),
        ("runs/" + "x" * 101, None, "Use letters, digits, '_', '-' and '.', at most 100, with a letter"),
        ("runs/en-de.base/seed", 1 << 63, "runs.en-de.base.seed must be less than 9223372036854775808, not 9223372036854775808."),
        ("catalogue/corpora/..", {"grammar": {"split": "dev", "sentences": 1, "seed": 1}}, "catalogue.corpora has the invalid name '..'."),
        ("catalogue/corpora/demo-dev/grammar/sentences", 0, "demo-dev.grammar.sentences must be greater than 0, not 0."),
        ("catalogue/corpora/demo-dev/pairs", -1, "demo-dev.pairs must be greater than 0, not -1."),
        ("catalogue/downloads/x", {**DOWNLOAD, "url": "http://host/../../f"}, "downloads.x.url is 'http://host/../../f'; write http:// or https://, a host and a path without '..'."),
        ("catalogue/downloads/x", {**DOWNLOAD, "url": "http://../f"}, "downloads.x.url is 'http://../f'; write"),
        ("catalogue/downloads/x", {**DOWNLOAD, "url": "file:///etc/passwd"}, "downloads.x.url is 'file:///etc/passwd'; write"),
        ("catalogue/downloads/x", {**DOWNLOAD, "url": "http://host/a\0b"}, "downloads.x.url is 'http://host/a\\x00b'; write"),
        ("catalogue/downloads/x", {**DOWNLOAD, "url": "http://[host/a"}, "downloads.x.url is 'http://[host/a'; write"),
        ("catalogue/downloads/x", {**DOWNLOAD, "checksum": "sha256:abc"}, "downloads.x.checksum is 'sha256:abc'; write sha256: or md5: and its 64 or 32 hexadecimal digits."),
        ("catalogue/downloads", {"x": {**DOWNLOAD, "url": "http://host/f?v=1"}, "y": {**DOWNLOAD, "url": "http://host/f?v=2"}}, "downloads.y.url is 'http://host/f?v=2', and that of x is 'http://host/f?v=1': both files would be stored at host/f; use another host or path for one of them."),
        ("training/learning_rate_scale", float("inf"), "training.learning_rate_scale must be a finite number, not inf."),
        ("tasks/en-de/decoding/alpha", float("nan"), "tasks.en-de.decoding.alpha must be a finite number, not nan."),
        ("tasks/en-de/kind", "parse", "tasks.en-de.kind must be 'translation', 'parsing', 'copying' or 'classification', not 'parse'."),
        ("tasks/en-de/kind", "classification", "tasks.en-de.text.labels is needed for classification: the labels of its targets."),
        ("tasks/who-acts/text/labels", ["il"], "tasks.who-acts.text.labels needs at least two labels."),
        ("tasks/who-acts/text/labels", ["il", "il"], "tasks.who-acts.text.labels contains a label twice."),
        ("tasks/who-acts/text/labels", ["il", "who is it"], "tasks.who-acts.text.labels[1] has the invalid name 'who is it'."),
        ("tasks/en-de/text/labels", ["a", "b"], "tasks.en-de.text.labels is for classification, not translation."),
        ("tasks/who-acts/decoding", {"beam": 1, "alpha": 0.0, "extra_length": 1}, "tasks.who-acts.decoding must be null: a classification has no search."),
        ("tasks/who-acts/bpe/symbols", ..., "tasks.who-acts.bpe.symbols must be target."),
        ("catalogue/corpora/demo-dev", {"labelled": {"texts": {"a": {"download": "x"}}}}, "demo-dev.labelled.texts.a names the download 'x', which does not exist."),
        ("catalogue/corpora/demo-dev", {"labelled": {"texts": {}, "folds": {"fold": 10, "of": 10, "seed": 1}}}, "demo-dev.labelled.folds.fold must be from 0 to 9."),
        ("catalogue/corpora/demo-dev", {"grammar": {"split": "dev", "sentences": 1, "seed": 1}, "sample": {"by": "en", "fold": 0, "of": 2, "seed": 1}}, "demo-dev.sample.by names the language 'en', which does not exist."),
        ("catalogue", {"downloads": {"x": DOWNLOAD}, "corpora": {"demo-train": {"sides": {language: {"download": "x"} for language in ("en", "de", "fr")}, "sample": {"by": "fr", "fold": 0, "of": 2, "seed": 1}}}}, "tasks.en-de.text names the language of the sample demo-train, by: 'fr', which does not exist. Known: en, de."),
        ("tasks/parsing/bpe/symbols", ..., "tasks.parsing.bpe.symbols must be target."),
        ("tasks/parsing/text/leaves", "none", "tasks.parsing.text.leaves must be 'tags', 'dummy' or 'words', not 'none'."),
        ("tasks/parsing/text/leaves", "words", "tasks.parsing.bpe.symbols must be brackets."),
        ("tasks/parsing/bpe/symbols", "brackets", "tasks.parsing.bpe.symbols must be target."),
        ("tasks/en-de/bpe/symbols", "brackets", "tasks.en-de.bpe.symbols is for trees."),
    ],
)  # fmt: skip
def test_invalid_values_are_one_line_errors(
    error_message: Callable[[str, Any], str], key: str, value: Any, expected: str
) -> None:
    assert expected in error_message(key, value)


def test_only_a_classification_has_no_search() -> None:
    params = config.load(ROOT / "params.yaml")
    with pytest.raises(ConfigError, match="of kind classification has no decoding"):
        _ = params.tasks["who-acts"].search
    with pytest.raises(ValidationError, match="is needed"):
        params.tasks["en-de"].replace(decoding=None)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("illustrations/run", "en-de.bsae", "illustrations.run names the run 'en-de.bsae', which does not exist. Did you mean en-de.base?"),
        ("illustrations/run", "who-acts.classifier", "illustrations.run is who-acts.classifier, a classifier; name a run with a decoder"),
        ("illustrations/sentence", " ", "illustrations.sentence is empty."),
        ("tested", [], "illustrations.run is en-de.base, which is not in tested: add it there."),
    ],
)  # fmt: skip
def test_the_illustrated_run_and_sentence_are_valid(
    error_message: Callable[[str, Any], str], key: str, value: Any, expected: str
) -> None:
    assert expected in error_message(key, value)


def test_with_d_k_and_d_v_h_need_not_divide_d_model(params: Params, tmp_path: Path) -> None:
    changed = copy.deepcopy(params)
    changed["models"]["base"] |= {"h": 6, "d_k": 5, "d_v": 7}
    file = tmp_path / "params.yaml"
    file.write_text(yaml.dump(changed, Dumper=yaml.CSafeDumper))
    model = config.load(file).models["base"]
    assert (model.d_k, model.d_v) == (5, 7)


def test_unknown_run_names_the_nearest(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"no run 'en-de.bass'. Did you mean en-de.base\?"):
        config.load(root / "params.yaml").run("en-de.bass")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a: [", "not YAML"),
        ("[]", "the file must be a mapping"),
        ("a: 2017-13-01", "not YAML: month must be in 1..12."),
        ("- " * 5000, r"the file must be a mapping, not \[+\.\.\.\]+\.|maximum nesting depth"),
        ("a: !!python/object/apply:os.system [ls]", "not YAML: could not determine a constructor"),
    ],
)
def test_a_file_without_parameters(tmp_path: Path, content: str, expected: str) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(content)
    with pytest.raises(ConfigError, match=expected):
        config.load(file)


def test_a_missing_params_file(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="No such file or directory. Run from the project's folder"
    ):
        config.load(tmp_path / "params.yaml")


def test_a_changed_line_changes_the_digest_of_the_stages_that_depend_on_it(tmp_path: Path) -> None:
    for name in ("dvc.yaml", "pipeline", "src"):
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(path, tmp_path / name)
    digests = {code_digest("train", tmp_path / "dvc.yaml")}
    relevant = ("pipeline/train.py", "src/aiayn/model/attention.py", "src/aiayn/training/loss.py")
    for count, name in enumerate(relevant, start=2):
        with (tmp_path / name).open("a") as file:
            file.write("# another line\n")
        digests.add(code_digest("train", tmp_path / "dvc.yaml"))
        assert len(digests) == count, name
    for name in ("src/aiayn/errors.py", "src/aiayn/data/bpe/vocabulary.py", "pipeline/encode.py"):
        with (tmp_path / name).open("a") as file:
            file.write("# another line\n")
        assert code_digest("train", tmp_path / "dvc.yaml") in digests, name


def test_the_sources_of_a_task_are_its_corpora_in_its_languages() -> None:
    """A language of the corpus that only another task uses is left out."""
    params = config.load(Path(__file__).parents[1] / "reproductions/multi30k/params.yaml")
    catalogue = params.catalogue
    sources = {task: params.sources(task) for task in ("en-de", "en-fr")}
    for task, other_language in (("en-de", "fr"), ("en-fr", "de")):
        text = params.task(task).text
        assert sources[task].corpora.keys() == {*text.corpora}
        for name, corpus in sources[task].corpora.items():
            assert {*(corpus.sides or ())} == {text.source, text.target}
            assert other_language in (catalogue.corpora[name].sides or ())
        used = {name for c in sources[task].corpora.values() for _, name in c.references()}
        assert sources[task].downloads.keys() == used
    file = next(iter(catalogue.downloads))
    corpora = {
        name: corpus.replace(sides={"cs": Side(download=file), **(corpus.sides or {})})
        for name, corpus in catalogue.corpora.items()
        if corpus.sides
    }
    larger = catalogue.replace(corpora={**catalogue.corpora, **corpora})
    with_czech = params.model_copy(update={"catalogue": larger})
    for task, found in sources.items():
        assert "cs" in (with_czech.catalogue.corpora[params.task(task).text.dev].sides or {})
        assert json_text(with_czech.sources(task), indent=1) == json_text(found, indent=1)
