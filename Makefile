# Every target sets up what it needs in .venv, on a machine that has nothing but python3 (>= 3.11) with venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE := $(VENV)/.engine-installed
STAMP := $(VENV)/.installed
SERVER := .venv-server
SERVER_STAMP := $(SERVER)/.installed
ORACLE := .venv-oracle
ORACLE_STAMP := $(ORACLE)/.installed
COMPILERS := .venv-compilers
COMPILERS_STAMP := $(COMPILERS)/.installed
WEB_STAMP := $(VENV)/.web-installed

# Tests run in so many processes at once, each file in one of them.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile
QUICK := -m "not slow and not gpu and not server and not browser"

.DEFAULT_GOAL := help
.PHONY: help demo demo-recording test test-others test-slow test-all test-server test-web adversarial redteam check coverage bench gpu-check wheel clean

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

$(ENGINE): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"evolve needs Python 3.11 or newer, got {v.major}.{v.minor} ($(PYTHON)). Try: make PYTHON=python3.11 ...")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "evolve needs the venv module of $(PYTHON), which is missing. Try: apt-get install python3-venv (or your system's equivalent)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[web]'
	@touch $@

$(STAMP): $(ENGINE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(ENGINE)  ## two real campaigns, about a minute together, no key and no GPU needed: with recorded answers of a language model, then without a model
	$(BIN)/evolve run -c docs/examples/recorded_model/campaign.toml
	$(BIN)/evolve run online_bin_packing --budget 40s

demo-recording: $(STAMP)  ## records the model of the demo anew after prompts have changed: MODEL=gpt-5-mini, or what `evolve run --model` takes; without it, gives the old answers to the new prompts
	$(BIN)/python -m tests.played $(MODEL)

test: $(STAMP)  ## the unit tests, which start no process, open no socket and do not sleep, in about 3 minutes
	$(PYTEST) -m "not integration and not slow and not gpu and not server and not browser"

# ribs brings scikit-learn, and with it the labels of `digits_recipe`, which must not be where its programs run: it has an environment of its own.
$(ORACLE_STAMP): pyproject.toml
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,ribs]'
	@touch $@

$(COMPILERS_STAMP): pyproject.toml tests/plugins/evolve_kernel/requirements.txt
	$(PYTHON) -m venv $(COMPILERS)
	$(COMPILERS)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/plugins/evolve_kernel/requirements.txt
	@touch $@

test-others: $(STAMP) $(ORACLE_STAMP) $(COMPILERS_STAMP)  ## the tests that need more than evolve does: torch, pyribs, and compilers for GPUs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,torch]' 'torch==2.13.0'
	$(BIN)/python -m pytest -m "not slow" tests/tasks/test_digits_torch.py tests/plugins/evolve_recipe tests/plugins/evolve_kernelbench
	$(ORACLE)/bin/python -m pytest tests/archive/test_oracle_ribs.py -rs
	$(COMPILERS)/bin/python -m pytest tests/plugins/evolve_kernel/test_gpu_compilers.py -rs

test-slow: test-others  ## those, and the slow tests, which CI leaves out: they try again at length what a quick test tries once; about half an hour
	$(PYTEST) -m "slow and not gpu and not server and not browser"

test-all: check test-slow  ## both of them

$(SERVER_STAMP): tests/server/requirements.txt
	$(PYTHON) -m venv $(SERVER)
	$(SERVER)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

test-server: $(STAMP) $(SERVER_STAMP)  ## the tests against a real server of a tiny language model, on the CPU
	$(BIN)/python -m pytest -m server -rs

$(WEB_STAMP): $(STAMP) tests/plugins/evolve_view/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/plugins/evolve_view/requirements.txt
	@touch $@

test-web: $(WEB_STAMP)  ## the pages of `evolve view` in a real browser, in less than 3 minutes
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -q -y --no-install-recommends chromium; \
	  else echo "the pages are looked at in Chromium, which is not installed. Try: apt-get install chromium (or your system's equivalent)"; exit 1; fi; }
	$(BIN)/python -m pytest -m browser -rs

adversarial: $(STAMP)  ## every known cheat against the judge of its task, as a table; fails where one gains anything
	$(BIN)/python tests/adversarial

redteam: $(STAMP)  ## hostile programs against the box of this machine, at the levels that it reaches; fails where one gets out
	$(BIN)/python tests/redteam

check: $(STAMP)  ## format, lint, types, layers, and all quick tests, integration tests too, with warnings as errors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -q -W error $(QUICK)

coverage: $(STAMP)  ## the quick tests with branch coverage, of which at least 90 % is wanted
	$(PYTEST) -q $(QUICK) --cov --cov-report=term

bench: $(STAMP)  ## the figures of speed and size, as tables
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/throughput.py
	$(BIN)/python benchmarks/llm_throughput.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/web.py
	$(BIN)/python benchmarks/query.py
	$(BIN)/python benchmarks/novelty.py
	$(BIN)/python benchmarks/isolation.py
	$(BIN)/python benchmarks/prompts.py
	$(BIN)/python benchmarks/timing_fidelity.py

gpu-check: $(STAMP)  ## the tests that need a GPU, and what kernels reach there; says what it would do and fails where there is none
	$(BIN)/evolve devices
	$(BIN)/python benchmarks/kernels_gpu.py --lacks
	$(BIN)/python -m pytest -m gpu -rs
	$(BIN)/python benchmarks/kernels_gpu.py

wheel: $(STAMP)  ## build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist .

clean:  ## remove the environment and every cache
	rm -rf $(VENV) $(SERVER) $(ORACLE) $(COMPILERS) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
