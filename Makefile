# One word a task. Everything lives in .venv, made on first use. The demo needs the library alone; tests and lint cover
# the studies too, a distribution of their own.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What the tests are run with; tests of engines that are not here are skipped. EXTRAS=all,test,engines has them all.
EXTRAS ?= fast,test
# What the benchmarks are run with; peers that are not here take no part. PEERS=fast,bench,arena has them all.
PEERS  ?= fast,bench

.PHONY: demo test test-all coverage lint docs docs-serve map bench quality clean

demo: $(VENV)/.installed
	@$(BIN)/oddsmith demo

# Every test, each with a few of its cases: an answer within minutes.
test: $(VENV)/.test
	@$(BIN)/python -m pytest -n auto --dist loadgroup --cases 3

# Every case of every test.
test-all: $(VENV)/.test
	@$(BIN)/python -m pytest -n auto --dist loadgroup

coverage: $(VENV)/.test
	@$(BIN)/python -m pytest -n auto --dist loadgroup --cov

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, in build/docs: every warning is an error, and every link in it is followed.
docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx --nitpicky --fail-on-warning --keep-going --quiet docs build/docs
	@$(BIN)/python docs/_ext/check_site.py build/docs

docs-serve: docs
	@$(BIN)/python -m http.server --directory build/docs

map: $(VENV)/bin/python
	@$(BIN)/python tools/house_map.py

bench: $(VENV)/.bench
	@$(BIN)/python -m benchmarks

quality: $(VENV)/.bench
	@$(BIN)/python -m benchmarks.quality two
	@$(BIN)/python -m benchmarks.quality several

clean:
	rm -rf $(VENV) build dist studies/dist docs/_made .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed studies/pyproject.toml
	$(PIP) install --editable '.[$(EXTRAS)]' --editable studies
	@touch $@

$(VENV)/.lint: $(VENV)/.installed studies/pyproject.toml
	$(PIP) install --editable '.[lint]' --editable studies
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) install --editable '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(PIP) install --editable '.[$(PEERS)]'
	@touch $@
