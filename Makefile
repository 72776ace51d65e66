# One word per task. Everything lives in .venv, made on first use. The demo needs the library alone; tests and lint cover
# the studies too, a distribution of their own.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What the tests are run with; tests of engines that are not here are skipped. EXTRAS=all,test,engines has them all.
EXTRAS ?= fast,test
# Tests run in one process per core: more threads in each would only wait for each other.
test test-all core oldest newest coverage: export OMP_NUM_THREADS := 1
test test-all core oldest newest coverage: export OPENBLAS_NUM_THREADS := 1
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup
# What the benchmarks are run with; peers that are not here take no part. PEERS=fast,bench,arena has them all.
PEERS  ?= fast,bench
.DEFAULT_GOAL := demo

.PHONY: demo test test-all core oldest newest coverage lint types docs docs-serve dist readme bench quality clean

demo: $(VENV)/.installed
	@$(BIN)/oddsmith demo

# Every test, each with a few of its cases: an answer within minutes.
test: $(VENV)/.test
	@$(PYTEST) --cases 3

# Every case of every test.
test-all: $(VENV)/.test
	@$(PYTEST)

# One case of every test that needs no extra, with the hard dependencies alone and in their oldest versions.
core: CORE := $(VENV)-core/bin
core:
	$(PYTHON) -m venv --clear $(VENV)-core
	$(CORE)/python -m pip --disable-pip-version-check --quiet install uv
	$(CORE)/uv pip install --quiet --python $(VENV)-core --resolution lowest-direct --editable . 'hypothesis>=6.100' 'pytest>=8.2' 'pytest-xdist>=3.5'
	@$(CORE)/python -m pytest -n auto --dist loadgroup --core --cases 1 $(WARNINGS) tests src

# Some cases of every test with the oldest versions that pyproject.toml allows, or with the newest, in an environment of
# their own. Old releases use what newer releases of others deprecate, and leave sockets open: there that is shown, and is
# no error.
oldest: VERSIONS := lowest-direct
core oldest: WARNINGS := $(foreach kind,DeprecationWarning FutureWarning ResourceWarning pytest.PytestUnraisableExceptionWarning,-W default::$(kind))
newest: VERSIONS := highest
oldest newest:
	$(PYTHON) -m venv --clear .venv-$@
	.venv-$@/bin/python -m pip --disable-pip-version-check --quiet install uv
	.venv-$@/bin/uv pip install --quiet --python .venv-$@ --resolution $(VERSIONS) --editable '.[all,test]' --editable studies
	@.venv-$@/bin/python -m pytest -n auto --dist loadgroup --cases 3 $(WARNINGS)

coverage: $(VENV)/.test
	@$(PYTEST) --cov

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Whether everything public has a type, by pyright; it reads scikit-learn's types from stubs, which mypy must not see.
types:
	$(PYTHON) -m venv --clear .venv-types
	.venv-types/bin/python -m pip --disable-pip-version-check --quiet install pyright scikit-learn-stubs --editable '.[cli]'
	@PATH="$(CURDIR)/.venv-types/bin:$$PATH" PYTHONPATH="$(CURDIR)/src" pyright --verifytypes oddsmith --ignoreexternal

# The site, in build/docs: every warning is an error, and every link in it is followed.
docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx --nitpicky --fail-on-warning --keep-going --quiet docs build/docs
	@$(BIN)/python docs/_ext/check_site.py build/docs

docs-serve: docs
	@$(BIN)/python -m http.server --directory build/docs

# Both distributions, in dist: built twice, compared, installed into an empty environment and used there.
dist: $(VENV)/bin/python
	$(PIP) install 'hatchling>=1.27'
	@$(BIN)/python tools/distributions.py

# What README.md shows of commands and of the documentation's tables.
readme: $(VENV)/.installed
	@$(BIN)/python tools/readme.py

bench: $(VENV)/.bench
	@$(BIN)/python -m benchmarks

quality: $(VENV)/.bench
	@$(BIN)/python -m benchmarks.quality two --held-out
	@$(BIN)/python -m benchmarks.quality two
	@$(BIN)/python -m benchmarks.quality several

clean:
	rm -rf $(VENV) $(VENV)-* build dist studies/dist docs/_made .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[cli]'
	@touch $@

$(VENV)/.test: $(VENV)/.installed studies/pyproject.toml
	$(PIP) install --editable '.[$(EXTRAS)]' --editable studies
	@touch $@

$(VENV)/.lint: $(VENV)/.installed studies/pyproject.toml
	$(PIP) install --editable '.[lint]' --editable studies
	@touch $@

$(VENV)/.docs: $(VENV)/.installed studies/pyproject.toml
	$(PIP) install --editable '.[docs]' --editable studies
	@touch $@

$(VENV)/.bench: $(VENV)/.installed studies/pyproject.toml
	$(PIP) install --editable '.[$(PEERS)]' --editable studies
	@touch $@
