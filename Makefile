# make is the graph: raw → tidy → audit → model → figure → page.  `make help` lists the targets.
.DEFAULT_GOAL := site
.DELETE_ON_ERROR:
.SUFFIXES:
$(if $(findstring t,$(firstword -$(MAKEFLAGS))),$(error make -t marks as made what is not made; run make -n))
# All processors, as notebooks are independent of each other; JOBS=1 for one after the other.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(JOBS)
endif

PYTHON ?= python3
SYSTEM ?= ask
STUDY ?= connections_on_loopback
FUZZ_SECONDS ?= 300
FUZZ_CUTS ?= 40
FORMS =
CASES =
# Of `make lab`, from the command line only.
RECORD =
SECONDS =
REPEATS =
# Of `make publish`, likewise.
OUT =
URL =

BIN := .venv/bin
export NO_MKDOCS_2_WARNING := 1
# Compiling this package again takes each kernel 0.3 s, and a worker of the tests four.
unexport PYTHONDONTWRITEBYTECODE

# Make and its shells see no name that could mean something to them: find leaves out files with other characters than
# these.  What is left out is seen all the same, by the state of its folder: a digest of all names, sizes and times.
named = $(shell LC_ALL=C find $(1) -regextype posix-extended -xtype f -regex '[A-Za-z0-9_./+-]+' $(2) 2>/dev/null)
state = LC_ALL=C find $(1) -printf '%p %s %T@\0' 2>/dev/null | LC_ALL=C sort -z | sha256sum | cut -c1-64

LIBRARY   := $(call named,lib/loadcurve,-name '*.py' -not -path '*/site/*')
SITE_CODE := $(call named,lib/loadcurve/site,-name '*.py')
HANDBOOK  := $(call named,handbook lib/tests/data/folders)
DESIGNS   := $(call named,lib/loadcurve/designs,-name study.yml)
RECORDED  := $(call named,data/studies,-maxdepth 2 -name study.yml)
# Notebooks that take longest start first, so that no processor waits for one of them at the end; then the others.
LONGEST   := 21_planted_faults 48_interval_coverage 45_published_curves 44_compare_two_servers
NOTEBOOKS := $(patsubst notebooks/%.ipynb,%,$(call named,notebooks,-maxdepth 1 -name '[0-9]*.ipynb'))
NOTEBOOKS := $(filter $(NOTEBOOKS),$(LONGEST)) $(filter-out $(LONGEST),$(sort $(NOTEBOOKS)))
EXECUTED  := $(NOTEBOOKS:%=build/notebooks/%.ipynb)
LAUNCHER  := build/notebooks/10_run_study.ipynb

# The text of a variable as one word of a shell; make would run a $(shell …) in it, also to pass it on.
quoted = '$(subst ','\'',$(value $(1)))'
unexport RECORD SECONDS REPEATS STUDY OUT URL

# One make at a time.  Tables come before the site: what changed in them decides which notebooks are executed.
ALONE     := +@sh lib/alone.sh $(MAKE)
TABLES    := build/tidy.stamp
SITE      := build/site/index.html
# Tests of a file run in one process and share its fixtures; the longest files start first, as tests/conftest.py orders
# them.
PYTEST    := cd lib && ../$(BIN)/python -m pytest --dist=loadfile --no-loadscope-reorder
# One process more than processors where tests with real programs mostly wait.
WAITING   := --numprocesses=$(shell expr $(JOBS) + 1)

.PHONY: site
site: ## Set everything up and build the handbook into build/site (the default)
	$(ALONE) $(TABLES) $(SITE)

.PHONY: test
test: ## Prove it: rules, units, models, real runs, notebooks, the site in a real browser
	$(ALONE) $(TABLES) $(SITE) .venv/ready-test build/browser.stamp
	$(PYTEST) $(WAITING) -m "not lab"

.PHONY: check
check: lint ## Check in a minute: style, types, and the unit tests that need neither other programs nor the built site
	$(PYTEST) --numprocesses=$(JOBS) --hypothesis-profile=quick -m "not lab and not real and not site and not slow"

.PHONY: lab-test
lab-test: $(filter test,$(MAKECMDGOALS)) ## Prove the laboratory: its servers, balancers, networks and faults, for real (root; asks apt for them)
	$(ALONE) .venv/ready-test build/lab-test.stamp
	$(PYTEST) $(WAITING) -m lab tests/lab

.PHONY: lint
lint: ## Check style of code and notebooks, and types
	$(ALONE) .venv/ready-test
	$(BIN)/ruff check --config lib/pyproject.toml lib notebooks
	$(BIN)/ruff format --config lib/pyproject.toml --check lib notebooks
	$(BIN)/nbstripout --verify notebooks/*.ipynb
	cd lib && ../$(BIN)/mypy

.PHONY: fuzz
fuzz: ## Cut, garble and fuzz every form of raw output: make fuzz [FUZZ_CUTS=40] [FUZZ_FILES=folder] [FUZZ_SECONDS=300] [FORMS="wrk ss:connections"]
	$(ALONE) .venv/ready-fuzz
	$(BIN)/python lib/fuzz/damage.py $(FUZZ_CUTS) $(FUZZ_FILES)
	$(BIN)/python lib/fuzz/all.py $(FUZZ_SECONDS) $(FORMS)

.PHONY: bench
bench: ## Time ingestion and models against well-known ways of doing the same: make bench [CASES="sar ss_list"]
	$(ALONE) .venv/ready-bench build/lab-tools.stamp
	$(BIN)/python lib/bench/all.py $(CASES)

.PHONY: serve
serve: site ## Read the handbook in a browser, rebuilt as its pages change
	$(BIN)/python -m loadcurve.site serve $(PORT)

.PHONY: pdf
pdf: site ## Print the handbook into build/handbook.pdf
	$(ALONE) build/browser.stamp
	$(BIN)/python -m loadcurve.site book
	$$(command -v chromium || command -v chromium-browser || command -v google-chrome) --headless --no-sandbox --disable-gpu \
	  --no-pdf-header-footer --generate-pdf-document-outline --print-to-pdf=build/handbook.pdf build/book.html

.PHONY: publish
publish: site ## Put the built handbook beside earlier versions, for any web server: make publish OUT=folder [URL=https://…]
	@$(BIN)/python -m loadcurve.site publish $(call quoted,OUT) $(call quoted,URL)

.PHONY: lab
lab: ## Launch a study, or go on with it: make lab STUDY=name [RECORD=copy SECONDS=2 REPEATS=1]
	$(ALONE) .venv/ready build/lab-tools.stamp
	$(BIN)/loadcurve launch $(if $(value RECORD),--name $(call quoted,RECORD)) \
	  $(if $(value SECONDS),--seconds $(call quoted,SECONDS)) $(if $(value REPEATS),--repeats $(call quoted,REPEATS)) \
	  -- $(call quoted,STUDY)

.PHONY: jupyter
jupyter: ## Open the notebooks in JupyterLab (as root too: launching into networks needs it)
	$(ALONE) .venv/ready build/lab-tools.stamp
	@if [ "$$(id -u)" -eq 0 ]; then \
	  echo "JupyterLab runs as root: whoever opens a notebook can do everything on this machine."; \
	  exec $(BIN)/jupyter lab --allow-root notebooks/01_your_own_files.ipynb; \
	else exec $(BIN)/jupyter lab notebooks/01_your_own_files.ipynb; fi

# READER is what make installs; a lock of another level lists only what that does not.  One resolution gives all versions.
READER := --extra lab --extra notebooks --extra handbook --group lib/pyproject.toml:make
besides = awk 'FNR == NR { if (/^[a-z]/) listed[$$0]; next } /^[a-z]/ { skip = $$0 in listed } !skip' build/lock/reader
compile = build/lock/bin/uv pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet lib/pyproject.toml $(READER)
resolve = cp build/lock/all build/lock/$(1) && $(compile) $(2) -o build/lock/$(1)

.PHONY: lock
lock: ## Resolve the dependencies anew into lib/requirements.lock (of make) and lib/requirements-*.lock
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv
	$(compile) --all-extras --upgrade -o build/lock/all
	$(call resolve,reader)
	$(call resolve,test,--extra cluster --extra s3 --extra dev)
	$(call resolve,bench,--extra bench)
	$(call resolve,fuzz,--extra fuzz)
	cp build/lock/reader lib/requirements.lock
	for level in test bench fuzz; do $(besides) build/lock/$$level > lib/requirements-$$level.lock || exit; done

.PHONY: clean
clean: ## Remove all that make built; recorded studies and the Python environment stay
	flock Makefile rm -rf build

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r t d; do printf '%-8s %s\n' "$$t" "$$d"; done

# All below is about files; a target without a slash leaves them to the make that alone.sh starts.
ifneq ($(findstring /,$(MAKECMDGOALS)),)

# What is newer than its sources and has to be made again all the same depends on FORCE.  Nothing is removed for that:
# reading this file changes nothing, so make -n and -q, and shells that complete names of targets, change nothing.
.PHONY: FORCE
STALE  :=
# A stamp, if it (or FILE) does not hold what a command prints: $(call unlike,STAMP,COMMAND[,FILE])
unlike = $(shell [ "$$($(2))" = "$$(cat $(or $(3),$(1)) 2>/dev/null)" ] || echo $(1))

# --- the machine ---------------------------------------------------------------------------------------------------

# A stamp holds what is missing here; when that is another list, what needs the tools is done again.
system := SYSTEM=$(SYSTEM) PYTHON=$(PYTHON) sh lib/loadcurve/lab/system.sh
STAMPS := build/lab-tools.stamp build/lab-test.stamp build/browser.stamp
$(STAMPS): build/%.stamp: lib/loadcurve/lab/system.sh
	@mkdir -p build
	@$(system) install $*
	@$(system) state $* > $@
LOOKED := $(filter $(if $(LOADCURVE_CHECKED),,build/lab-tools.stamp) $(MAKECMDGOALS),$(STAMPS))
STALE  += $(foreach stamp,$(LOOKED),$(call unlike,$(stamp),$(system) state $(stamp:build/%.stamp=%)))
# One package manager at a time, and none beside the measurement on this machine.
build/browser.stamp: | build/lab-tools.stamp build/notebooks/10_run_study.ipynb
build/lab-test.stamp: | build/lab-tools.stamp

.venv/ready: lib/requirements.lock lib/pyproject.toml | build/lab-tools.stamp
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"loadcurve needs Python 3.11 or newer, {sys.executable} is {v.major}.{v.minor}: install python3.11 and python3.11-venv, then make PYTHON=python3.11")'
	.venv/bin/python -c 'import ssl' 2>/dev/null || $(PYTHON) -m venv --clear .venv  # another Python over one would break it
	@sh lib/install.sh $(BIN)/python $< lib
	@touch $@

.venv/ready-%: lib/requirements-%.lock .venv/ready
	@sh lib/install.sh $(BIN)/python $<
	@touch $@

# --- raw → tidy ----------------------------------------------------------------------------------------------------

DAMAGED := $(shell sh lib/products.sh $(EXECUTED))

# The stamp holds the state of all studies: when that is another one, all that changed is read again.
STUDIES := $(shell $(call state,data/studies))
STALE   += $(DAMAGED) $(call unlike,$(TABLES),echo $(STUDIES))
$(TABLES): $(LIBRARY) .venv/ready
	$(BIN)/loadcurve tidy
	@mkdir -p build && echo $(STUDIES) > $@

# --- tidy → figures ------------------------------------------------------------------------------------------------
# What each notebook read and imported is listed in its .d file: it is executed again when one of those files changes,
# and only then.

build/notebooks/%.ipynb: notebooks/%.ipynb .venv/ready | $(TABLES)
	$(BIN)/loadcurve run $<

# The short study on this machine is measured again when tools appear, and alone: nothing else may take its processors.
$(LAUNCHER): build/lab-tools.stamp
$(filter-out $(LAUNCHER),$(EXECUTED)): | $(LAUNCHER)

-include $(patsubst %.ipynb,%.d,$(filter-out $(DAMAGED),$(EXECUTED)))

# --- figures → pages -----------------------------------------------------------------------------------------------

# The stamp holds the state of the site and of what it was built from, so a page that was edited or lost is built again.
PAGES := handbook lib/loadcurve/designs build/site
STALE += $(call unlike,$(SITE),$(call state,$(PAGES)),build/site.stamp)
$(SITE): $(EXECUTED) $(HANDBOOK) $(DESIGNS) $(RECORDED) $(SITE_CODE) mkdocs.yml
	$(BIN)/python -m loadcurve.site
	@touch $@
	@$(call state,$(PAGES)) > build/site.stamp
	@echo "The handbook is in build/site/index.html"

$(STALE): FORCE

endif
