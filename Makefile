# Every action of the project; `make help` lists them.
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# if it is set, every process recompiles our modules: 5 s each time tests are collected
unexport PYTHONDONTWRITEBYTECODE
READY := $(VENV)/.ready

.PHONY: help docs repro report sweep table3 reproduction publish reproductions verify rehearse quick test pytest versions machines lint format params lock tour sync explorer ui bench bench-explorer kills gpu-check slurm clean

help: ## list the actions
	@grep -hE '^[a-z0-9_-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# torch first, with its exact version: a version range may install gigabytes of GPU libraries. For a machine
# without an NVIDIA GPU, PyTorch's own index has CPU builds:
# make repro TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "aiayn needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch==2.13.0
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs]'
	@touch $(READY)

SAY_WHERE := echo "The report is at $$PWD/reports/index.html"
# stages in parallel; default: number of cores / machine.threads
JOBS ?=
REPRO := aiayn repro $(if $(JOBS),--jobs $(JOBS))
# exported as shell variables, so that their values are never parsed as commands
export SCALE LAUNCHER GPUS FROM NAME SET
TOP_SCALE := demo
FOLDER := python -m aiayn.commands.repro.scale_folder $(if $(SCALE),--scale="$$SCALE")
PREPARE := $(FOLDER) $(if $(LAUNCHER),--launcher="$$LAUNCHER") $(if $(GPUS),--gpus="$$GPUS") $(if $(FROM),--from="$$FROM")
# enter the scale's folder, with its parameters composed again, or unchanged
ENTER = folder=$$($(PREPARE)) && cd "$$folder"
ENTER_AS_IS = folder=$$($(FOLDER) --existing) && cd "$$folder"

repro: $(READY) ## run the whole pipeline (another scale: SCALE=multi30k; from a reproduction: FROM=reproductions/multi30k; on a cluster: LAUNCHER=slurm JOBS=24)
	@$(ENTER) && $(REPRO) && $(SAY_WHERE)

rehearse: $(READY) ## train a few steps with the launcher, run every stage, then list what the real run needs and what is missing (make rehearse SCALE=wmt14_base)
	@aiayn rehearse $(if $(SCALE),"$$SCALE") $(if $(LAUNCHER),--launcher="$$LAUNCHER") $(if $(GPUS),--gpus="$$GPUS")

report: $(READY) ## render the report, after running the stages it depends on
	@$(ENTER) && $(REPRO) report && $(SAY_WHERE)

sweep: $(READY) ## train a model with several values of one column, as rows of table 3 (make sweep SET=E_learned.P_drop=0,0.2)
	@$(ENTER) && python -m aiayn.commands.repro.sweep "$$SET" && $(REPRO) && $(SAY_WHERE)

table3: $(READY) ## render only table 3, after running the stages it depends on
	@$(ENTER) && $(REPRO) compare profile_models && python "$(CURDIR)/pipeline/report.py" --only table_3

verify: $(READY) ## compare the results here with reproductions/SCALE
	@$(ENTER_AS_IS) && aiayn verify "$(CURDIR)/reproductions/$${SCALE:-$(TOP_SCALE)}"

reproduction: ## copy a scale's results (text files) to reproductions/SCALE, or to reproductions/NAME
	@$(ENTER_AS_IS) && aiayn publish --force "$${NAME:-$${SCALE:-$(TOP_SCALE)}}"

publish: $(READY) ## the same, but only if the code is committed and every stage is up to date (NAME=...)
	@test -n "$$NAME" || { echo "Give it a name: make publish NAME=..." >&2; exit 1; }
	@$(ENTER_AS_IS) && aiayn publish "$$NAME"

reproductions: $(READY) ## render reproductions/README.md, docs/results.md and the results in README.md
	@aiayn publish

# one process per core; tests/conftest.py says which tests must share one
PYTEST := python -m pytest -n auto --dist loadgroup --no-loadscope-reorder

# in parallel: mypy uses only one core
CHECKS := @$(MAKE) --no-print-directory -j2 lint pytest

quick: $(READY) ## lint, types and unit tests
	$(CHECKS) CHOSEN='-m "not slow" --hypothesis-profile quick'

test: $(READY) ## lint, types and all tests
	$(CHECKS)

pytest: $(READY)
	$(PYTEST) $(CHOSEN)

# the packages whose formats and behaviour the project depends on most; the others take what these allow
RANGES := dvc|mlflow|pandas|pydantic|sacrebleu|sentencepiece
.venv-oldest/.ready .venv-newest/.ready: .venv-%/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-$*
	sed -nE 's/^  "($(RANGES))>=([0-9.]+).*/\1==\2/p' pyproject.toml > .venv-$*/oldest.txt
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check \
		$(if $(filter oldest,$*),--constraint .venv-$*/oldest.txt) --editable '.[dev]'
	@touch $@

versions: .venv-oldest/.ready .venv-newest/.ready ## unit tests with the oldest and the newest packages that are allowed
	for which in oldest newest; do PATH="$(CURDIR)/.venv-$$which/bin:$$PATH" \
		$(PYTEST) -m "not slow" --hypothesis-profile quick || exit 1; done

MACHINES ?= scratch/machines
machines: $(READY) ## run the demo on simulated machines: AVX2, two threads (others: ARGS='--python torch-2.11=/path/to/python')
	python -m benchmarks.machines $(MACHINES) $(ARGS)

lint: $(READY) ## ruff and mypy
	ruff check .
	ruff format --check .
	mypy

format: $(READY) ## let ruff rewrite the code
	ruff check --fix .
	ruff format .

params: $(READY) ## compose params.yaml from conf/, in the folder of the scale (make params SCALE=multi30k)
	@$(PREPARE) $(if $(SCALE)$(LAUNCHER)$(GPUS)$(FROM),,--scale=$(TOP_SCALE)) >/dev/null

# without torch, whose build depends on the machine
lock: $(READY) ## write requirements.lock: every package but torch, with its hashes (after a change of constraints.txt)
	python -m pip install --quiet --disable-pip-version-check uv
	echo "torch ; sys_platform == 'none'" | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --no-emit-package torch --override - --constraint constraints.txt --extra dev \
		pyproject.toml --output-file requirements.lock

tour: export OMP_NUM_THREADS = 1
tour: $(READY) ## run the notebooks of docs/tour and write their pages
	python docs/tour/render.py

# the page in explorer/build/index.html: the model that comes with the package, in one file
EXPLORER := explorer/build
EXPORTED := $(EXPLORER)/exports/shipped.onnx/README.md
$(EXPORTED): $(READY) $(wildcard src/aiayn/shipped/* src/aiayn/shipped/*/* src/aiayn/shipped/*/*/* src/aiayn/shipped/*/*/*/* src/aiayn/commands/export/* src/aiayn/model/*.py src/aiayn/data/bpe/*.py)
	mkdir -p $(EXPLORER) && cd $(EXPLORER) && aiayn export shipped --to onnx && touch exports/shipped.onnx/README.md

explorer/node_modules/.package-lock.json: explorer/package-lock.json
	npm ci --prefix explorer --no-progress

$(EXPLORER)/index.html: $(EXPORTED) explorer/node_modules/.package-lock.json $(wildcard explorer/src/* explorer/*.*)
	npm run --prefix explorer --silent check
	npm run --prefix explorer --silent bundle
	python explorer/build.py

explorer: $(EXPLORER)/index.html ## an interactive Transformer in the browser: explorer/build/index.html (needs node)

docs: $(READY) ## build the documentation as a site, offline: site/index.html
	python -m sphinx -q -W -E -b html -c docs . site
	@echo "The site is at $(CURDIR)/site/index.html"

sync: $(READY) ## mirror finished runs to the MLflow store
	@$(ENTER_AS_IS) && aiayn sync

# one worker, and no job processes: MLflow's default of fourteen costs a minute of CPU time
ui: export MLFLOW_SERVER_ENABLE_JOB_EXECUTION ?= false
ui: export MLFLOW_DISABLE_TELEMETRY ?= true
ui: $(READY) ## browse the runs in MLflow: prints a link for each table
	@python -m aiayn.tracking.links
	@echo "MLflow starts, which takes some seconds (ctrl-C ends it)"
	@mlflow ui --workers 1 --backend-store-uri $${MLFLOW_TRACKING_URI:-sqlite:///mlflow.db}

bench: $(READY) ## speed of training (relative to a plain loop), decoding, and data preparation
	python benchmarks/training.py
	python -m benchmarks.decoding
	python -m benchmarks.corpora

bench-explorer: explorer ## how fast the page of make explorer translates (needs node and Chromium)
	python -m benchmarks.explorer

kills: $(READY) ## kill -9 dvc repro at 20 moments after a training's last step: is the training lost?
	python -m benchmarks.killed_repro

gpu-check: $(READY) ## the tests that need a GPU, and the speed of a training step: gpu_report.md, to be sent in
	python -m benchmarks.gpu_check

slurm: $(READY) ## the graph on a real local SLURM: jobs requeued, out of time, or undisturbed
	python -m benchmarks.real_slurm

clean: ## remove a scale's data, results and unfinished trainings; not its report, the DVC cache and raw downloads
	@$(ENTER_AS_IS) && rm -rf data/sources data/text data/bpe data/tokens curves.csv models outputs scores metrics comparisons profiles history run_metadata illustrations scratch logs
