# Four commands; each makes its own environment in .venv first, once. Needs Python 3.11 or newer, and make.
#   make demo     the main job: train, score, draw; writes a page to read offline
#   make test     the whole test suite
#   make lab      JupyterLab on the notebooks
#   make install  the environment alone

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: install demo test lab lint clean

install: $(READY)

$(READY): pyproject.toml constraints.txt scripts/install.py
	$(PYTHON) scripts/install.py $(VENV)
	touch $(READY)

demo: $(READY)
	$(BIN)/cselab notebooks run 00_tour --output out

test: lint
	$(BIN)/python scripts/browser.py
	$(BIN)/python -m pytest

lab: $(READY)
	$(BIN)/jupyter lab --ip 127.0.0.1 $(AS_ROOT) notebooks

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

clean:
	rm -rf $(VENV) out build dist
