# make is the graph: raw → tidy → audit → model → figure → page.  `make help` lists the targets.
.DEFAULT_GOAL := site
.DELETE_ON_ERROR:
.SUFFIXES:
# All processors, as notebooks are independent of each other; JOBS=1 for one after the other.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
MAKEFLAGS += --no-builtin-rules --jobs=$(JOBS)

PYTHON ?= python3
SYSTEM ?= yes
STUDY ?= connections_on_loopback
FUZZ_SECONDS ?= 300
FORMS =
CASES =
# Of `make lab`, from the command line only.
RECORD =
SECONDS =
REPEATS =

BIN := .venv/bin
export NO_MKDOCS_2_WARNING := 1

LIBRARY   := $(shell find lib/loadcurve -name '*.py' -not -path '*/site/*')
SITE_CODE := $(wildcard lib/loadcurve/site/*.py)
HANDBOOK  := $(shell find handbook -type f)
DESIGNS   := $(wildcard data/designs/*/study.yml)
STUDIES   := $(patsubst data/studies/%/study.yml,%,$(wildcard data/studies/*/study.yml))
NOTEBOOKS := $(patsubst notebooks/%.ipynb,%,$(wildcard notebooks/[0-9]*.ipynb))
EXECUTED  := $(NOTEBOOKS:%=build/notebooks/%.ipynb)
LAUNCHER  := build/notebooks/10_run_study.ipynb

.PHONY: site
site: build/site/index.html ## Set everything up and build the handbook into build/site (the default)

.PHONY: test
test: site build/browser.stamp ## Prove it: rules, units, models, real runs, notebooks, the site in a real browser
	cd lib && ../$(BIN)/python -m pytest -m "not lab"

.PHONY: lab-test
lab-test: .venv/ready build/lab-test.stamp ## Prove the laboratory: its servers, balancers, networks and faults, for real (root; asks apt for them)
	cd lib && ../$(BIN)/python -m pytest -m lab tests/lab

.PHONY: lint
lint: .venv/ready ## Check style of code and notebooks
	$(BIN)/ruff check --config lib/pyproject.toml lib notebooks
	$(BIN)/ruff format --config lib/pyproject.toml --check lib notebooks
	$(BIN)/nbstripout --verify notebooks/*.ipynb

.PHONY: fuzz
fuzz: .venv/ready ## Fuzz every form of raw output, guided by coverage: make fuzz [FUZZ_SECONDS=300] [FORMS="wrk ss:connections"]
	$(BIN)/python lib/fuzz/all.py $(FUZZ_SECONDS) $(FORMS)

.PHONY: bench
bench: .venv/ready build/lab-tools.stamp ## Time ingestion and models against well-known ways of doing the same: make bench [CASES="sar ss_list"]
	$(BIN)/python lib/bench/all.py $(CASES)

.PHONY: serve
serve: site ## Read the handbook in a browser, rebuilt as its pages change
	$(BIN)/mkdocs serve

.PHONY: lab
lab: .venv/ready build/lab-tools.stamp ## Launch a study, or go on with it: make lab STUDY=name [RECORD=copy SECONDS=2 REPEATS=1]
	$(BIN)/loadcurve launch $(STUDY) $(if $(RECORD),--name $(RECORD)) $(if $(SECONDS),--seconds $(SECONDS)) \
	  $(if $(REPEATS),--repeats $(REPEATS))

.PHONY: jupyter
jupyter: .venv/ready build/lab-tools.stamp ## Open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks

.PHONY: lock
lock: ## Resolve the dependencies anew into lib/requirements.lock
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv
	build/lock/bin/uv pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --upgrade \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --all-extras --quiet \
	  lib/pyproject.toml -o lib/requirements.lock

.PHONY: clean
clean: ## Remove all that make built; recorded studies and the Python environment stay
	rm -rf build

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r t d; do printf '%-8s %s\n' "$$t" "$$d"; done

# --- the machine ---------------------------------------------------------------------------------------------------

# A stamp holds what is missing here.  When that is no longer so, it goes, and what needs the tools is done again.
define system
ifneq ($$(shell cat build/$(1).stamp 2>/dev/null),$$(shell SYSTEM=$(SYSTEM) PYTHON=$(PYTHON) sh lib/system.sh state $(1)))
$$(shell rm -f build/$(1).stamp)
endif

build/$(1).stamp: lib/system.sh
	@mkdir -p build
	@SYSTEM=$(SYSTEM) PYTHON=$(PYTHON) sh lib/system.sh install $(1)
	@SYSTEM=$(SYSTEM) PYTHON=$(PYTHON) sh lib/system.sh state $(1) > $$@
endef
$(eval $(call system,lab-tools))
$(eval $(call system,browser))
$(eval $(call system,lab-test))
# One package manager at a time, and none beside the measurement on this machine.
build/browser.stamp: | build/lab-tools.stamp build/notebooks/10_run_study.ipynb
build/lab-test.stamp: | build/lab-tools.stamp
ifneq ($(filter test,$(MAKECMDGOALS)),)
build/lab-test.stamp: | test
endif

.venv/ready: lib/requirements.lock lib/pyproject.toml | build/lab-tools.stamp
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"loadcurve needs Python 3.11 or newer, {sys.executable} is {v.major}.{v.minor}: install python3.11 and python3.11-venv, then make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r lib/requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e lib
	@touch $@

# --- raw → tidy ----------------------------------------------------------------------------------------------------

define ingest
build/tidy/$(1).stamp: $$(wildcard data/studies/$(1)/* data/studies/$(1)/*/*) $$(LIBRARY) .venv/ready
	$$(BIN)/loadcurve tidy $(1)
	@touch $$@
endef
$(foreach study,$(STUDIES),$(eval $(call ingest,$(study))))
TIDY := $(STUDIES:%=build/tidy/%.stamp)

# --- tidy → figures ------------------------------------------------------------------------------------------------
# What each notebook read stands in its .d file, so it is executed again when one of those files changes, and only then.

build/notebooks/%.ipynb: notebooks/%.ipynb $(LIBRARY) .venv/ready | $(TIDY)
	$(BIN)/loadcurve run $<

# The short study on this machine is measured again when tools appear, and alone: nothing else may take its processors.
$(LAUNCHER): build/lab-tools.stamp
$(filter-out $(LAUNCHER),$(EXECUTED)): | $(LAUNCHER)

-include $(EXECUTED:.ipynb=.d)

# --- figures → pages -----------------------------------------------------------------------------------------------

build/site/index.html: $(EXECUTED) $(HANDBOOK) $(DESIGNS) $(SITE_CODE) mkdocs.yml
	$(BIN)/mkdocs build --quiet --strict
	@touch $@
	@echo "The handbook is in build/site/index.html"
