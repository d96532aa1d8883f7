# `make demo` and `make test` do all the set-up on a fresh clone: environment, dependencies, model.

VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
TINY   := tests/models/test_local_plumbing.py
PYTHON ?=
FIND_PYTHON := for p in $(PYTHON) python3.11 python3.12 python3.13 python3 python; do \
	  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$$p"; exit 0; }; \
	done; exit 1

# The stages of tests one after the other share what the first has compiled, whatever the surroundings say.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test judge browser cluster recipes viewer check fix lock clean

help:                     ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: $(STAMP)            ## judge three example reports with the embedded model, no key needed
	$(BIN)/dream demo

test: $(STAMP)            ## all tests but those that run apart (below)
	$(BIN)/pytest -n 2 --dist loadfile --ignore $(TINY)

judge: $(STAMP)           ## the tests that run real models: a tiny one, then the embedded judge (leave the machine alone)
	$(BIN)/pytest $(TINY)
	$(BIN)/pytest -m judge -rsxX

browser: $(STAMP)         ## the tests that open the viewer in a real browser (needs Chromium)
	$(BIN)/pytest -m browser -rsxX

cluster: $(STAMP)         ## the tests with whole runs, many processes, kills, bad days and a Ray cluster
	$(BIN)/pytest -m cluster -rsxX

recipes: $(STAMP)         ## the tests that install research agents and run them
	$(BIN)/pytest -m recipes -rsxX

viewer:                   ## build the viewer's page from its sources (needs node and npm; developers only)
	cd viewer/web && npm ci --no-audit --no-fund && npm run build

check: $(STAMP)           ## lint, format, strict types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p .typing && ln -sfn "$(CURDIR)" .typing/dream_eval
	cd .typing && ../$(BIN)/mypy -p dream_eval
	$(BIN)/pytest -q tests/project/test_layers.py

fix: $(STAMP)             ## format, and repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# uv names neither index nor local folders unless told to; tests/project/test_lock.py sees to it.
lock:                     ## write requirements.lock anew from pyproject.toml (needs uv on the path)
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	  --no-header --quiet -o requirements.lock

clean:                    ## remove the environment and all that was built
	rm -rf $(VENV) .typing build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The environment is exactly requirements.lock (versions and hashes), then the project itself, editable.
$(STAMP): requirements.lock pyproject.toml
	@python=$$($(FIND_PYTHON)) || { echo "dream-eval needs Python 3.11 or newer; none was found. Say which: make PYTHON=/path/to/python3.12" >&2; exit 1; }; \
	test -x $(BIN)/python || "$$python" -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$$python cannot make an environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
