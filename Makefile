# The front door: `make` lists what it can do.

PYTHON ?= python3
BIN := .venv/bin
PIP_FLAGS := -qq --no-input --disable-pip-version-check
PIP_INSTALL := $(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check bench mutate clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s  %s\n", $$1, $$2 }' Makefile

setup: .venv/.ready ## Create .venv with the pinned development tools

demo: .venv/.ready ## Show what inbounds does; figures and numbers go to demo-output/
	$(BIN)/python examples/demo.py demo-output

test: .venv/.ready ## Run the tests and doctests
	$(BIN)/pytest -m "not alone" -n auto --dist loadfile
	$(BIN)/pytest -m alone tests

check: .venv/.ready ## Check format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: .venv/.bench .venv-diffprivlib/.ready ## Run the benchmarks
	$(BIN)/python -m benchmarks

mutate: .venv/.ready ## Plant defects one by one and show that the tests catch each
	$(BIN)/python scripts/mutate.py

clean: ## Remove environments, caches and build products
	rm -rf .venv .venv-diffprivlib build demo-output dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# hatchling comes first and pinned, so that building the package itself fetches nothing unpinned.
.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "inbounds needs Python 3.11 or newer with its venv module; '$(PYTHON)' is not that." >&2; \
	  echo "Install it (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python)" >&2; \
	  echo "or name another: make setup PYTHON=/path/to/python3.11" >&2; \
	  exit 1; }
	@echo "Setting up .venv (about a minute the first time)"
	@$(PYTHON) -m venv .venv
	@$(PIP_INSTALL) hatchling
	@$(PIP_INSTALL) --no-build-isolation -e '.[dev]'
	@scripts/system-packages
	@touch $@

.venv/.bench: .venv/.ready
	@echo "Adding what the benchmarks compare with to .venv"
	@$(PIP_INSTALL) --no-build-isolation -e '.[bench]'
	@touch $@

# diffprivlib does not import with a newer scikit-learn, so its pins stay out of constraints.txt.
.venv-diffprivlib/.ready: benchmarks/diffprivlib-requirements.txt
	@echo "Setting up .venv-diffprivlib"
	@$(PYTHON) -m venv .venv-diffprivlib
	@.venv-diffprivlib/bin/python -m pip install $(PIP_FLAGS) -r $<
	@touch $@
