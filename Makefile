# Everything one does with Duologue from a checkout. Needs GNU Make and a POSIX shell; `make` alone lists the targets.
#
# What is made is its own stamp, so that a second `make serve` runs nothing but the server: the environment carries
# one file for each set of packages installed in it, and the page is newer than its sources or it is built.

SHELL := /bin/sh
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
# Where this is set, as in many container images, each of the hundreds of processes that the tests start would compile
# every module anew: half of their time.
unexport PYTHONDONTWRITEBYTECODE
.DELETE_ON_ERROR:
# Two installations into one environment would trip over each other.
.NOTPARALLEL:

BIN := .venv/bin
RUNTIME := .venv/.runtime
DEVELOPMENT := .venv/.development
LOCK := requirements/runtime.txt requirements/voice.txt
DEVELOPMENT_LOCK := requirements/postgres.txt requirements/tracing.txt requirements/s3.txt requirements/development.txt
PAGE := src/duologue/gateway/page/index.html
# Folders count as sources too: their time changes when a file in them goes away.
WEB := $(shell find web/index.html web/package-lock.json web/vite.config.ts web/svelte.config.js web/plugins web/src web/public)
# Test files run side by side in so many processes: most of them wait for servers and browsers they started.
JOBS ?= 3
BENCHES := $(wildcard bench/bench_*.py)

.PHONY: help install serve test test-long client test-clients test-engines test-omni check format web wheel release lock screens bench bench-duplex soak chaos attack clean

help: ## list the targets
	@echo 'Usage: make TARGET'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(RUNTIME) ## make the environment in .venv with what the server needs

serve: $(RUNTIME) $(PAGE) ## start the server on http://127.0.0.1:8006 (PORT=8010, ARGS="--model FILE.gguf")
	@exec $(BIN)/duologue serve $(if $(PORT),--port $(PORT)) $(ARGS)

test: $(DEVELOPMENT) $(PAGE) ## run all tests that can run on this machine, and say which could not (ARGS="-k queue", JOBS=0 for one process)
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)
	@sh scripts/web.sh test || { [ $$? -eq 69 ] && echo 'The tests of the page were skipped.'; }

test-long: $(DEVELOPMENT) $(PAGE) ## run the tests that `make test` leaves out: more kills, crowds and downloads (10 minutes)
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --long -m long $(ARGS)

test-omni: ## try an omni engine on real weights (MODEL=FOLDER, ENGINE=minicpmo or qwen_omni, OPTIONS='{"trust_remote_code": true, ...}', PYTHON=its interpreter)
	@test -n "$(MODEL)" || { echo 'Name the folder of the weights: make test-omni MODEL=FOLDER'; exit 1; }
	@DUOLOGUE_OMNI_MODEL='$(MODEL)' DUOLOGUE_OMNI_ENGINE='$(ENGINE)' DUOLOGUE_OMNI_OPTIONS='$(OPTIONS)' \
		$(or $(PYTHON),$(BIN)/python) -m pytest -p no:cacheprovider -v tests/engines_extra/test_omni_weights.py $(ARGS)

client: $(RUNTIME) $(PAGE) ## generate typed clients of this server's API in build/client: a Python wheel and an npm package (KINDS="python typescript")
	@$(BIN)/python scripts/typed_clients.py $(KINDS)

test-clients: $(RUNTIME) $(PAGE) ## run published clients, unmodified, against the server, in build/clients (NAMES="openai_python litellm", ARGS=--table)
	@$(BIN)/python scripts/clients.py $(NAMES) $(ARGS)

test-engines: $(RUNTIME) ## try the optional engines, each with its real library, in build/engines (NAMES="whisper kokoro")
	@sh scripts/engines.sh $(NAMES)

check: $(DEVELOPMENT) $(PAGE) ## check format, lint, types, layout and the page's types and size
	@$(BIN)/ruff format --check --quiet . || { echo 'Some files are not formatted (ruff format --diff shows how): run make format.'; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_layout.py
	@sh scripts/web.sh check
	@sh scripts/web.sh size

format: $(DEVELOPMENT) ## format the Python sources and mend what the linter can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

web: $(PAGE) ## build the page from web/

screens: $(DEVELOPMENT) $(PAGE) ## photograph every screen of the page into build/screens, to be looked at
	@$(BIN)/python scripts/screens.py $(ARGS)

wheel: $(DEVELOPMENT) $(PAGE) ## build dist/*.whl with the page and the model inside
	@$(BIN)/python -m hatchling build --target wheel --directory dist

release: $(DEVELOPMENT) $(PAGE) ## build dist/*.whl anew, install it into an empty environment and talk to it
	@rm -f dist/*.whl
	@$(MAKE) wheel
	@$(BIN)/python -m pytest tests/test_packaging.py --wheel dist/*.whl
	@ls dist/*.whl

lock: ## write the tested versions of all packages into requirements/ (ARGS=--upgrade takes the newest)
	@sh scripts/lock.sh $(ARGS)

bench: $(BENCHES:bench/bench_%.py=bench-%) ## run every benchmark in bench/ (one alone: make bench-NAME)

bench-%: bench/bench_%.py $(DEVELOPMENT)
	$(BIN)/python $< $(ARGS)

bench-duplex: $(DEVELOPMENT) ## let synthetic callers talk, pause and interrupt, and print how it felt (15 minutes)
	$(BIN)/python bench/bench_duplex.py $(ARGS)

soak: $(DEVELOPMENT) ## let 16 callers talk for half an hour, and look what is left (ARGS="--soak MINUTES")
	$(BIN)/python bench/bench_calls.py --soak 30 $(ARGS)

chaos: $(DEVELOPMENT) ## trouble a server for two minutes and kill one 200 times, and look what is left (20 minutes in all)
	$(BIN)/python bench/chaos.py $(ARGS)
	$(BIN)/python bench/kills.py

attack: $(DEVELOPMENT) ## send a server ten thousand hostile files and a hundred thousand requests and frames, and look whether it stands (12 minutes)
	@PYTHONPATH=bench $(BIN)/python -m attack.runner $(ARGS)

clean: ## remove the environment, the built page, wheels and caches (trained weights in build/ stay)
	rm -rf .venv web/node_modules src/duologue/gateway/page dist test-results
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests bench mini/duologue_mini mini/tests examples -name __pycache__ -prune -exec rm -rf {} +

$(RUNTIME): pyproject.toml $(LOCK) scripts/environment.sh
	@sh scripts/environment.sh runtime

$(DEVELOPMENT): pyproject.toml $(LOCK) $(DEVELOPMENT_LOCK) scripts/environment.sh
	@sh scripts/environment.sh development

# Without Node or its registry the server and the Python tests still run; whoever asks for the page itself must get it.
serve test: NO_PAGE := { [ $$? -eq 69 ] && echo 'Going on without a fresh page.'; }
web wheel release check: NO_PAGE := false

$(PAGE): $(WEB) | $(RUNTIME)
	@sh scripts/web.sh build || $(NO_PAGE)
