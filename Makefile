# One word a task. Everything lives in .venv, made on first use.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint bench clean

demo: $(VENV)/.installed
	@$(BIN)/python -m oddsmith.demo

test: $(VENV)/.test
	@$(BIN)/python -m pytest -n auto --cov --cov-fail-under=95

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	$(PIP) install --editable '.[fast,test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	$(PIP) install --editable '.[lint]'
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(PIP) install --editable '.[fast,bench]'
	@touch $@
