#!/bin/sh
# Creates .venv and installs the versions in requirements/ into it: with uv if it is installed, else with venv and pip.
#
#   scripts/environment.sh runtime       what `make serve` needs
#   scripts/environment.sh development   the same, and what `make test` and `make check` need
#
# The interpreter is the first of $DUOLOGUE_PYTHON, python3, python3.14 ... python3.11 that is new enough.
# If something is missing, it prints what. The file .venv/.runtime (.venv/.development) tells make that it has run.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python

stop() {
    echo "$1" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [ -n "${DUOLOGUE_PYTHON:-}" ]; then
        is_new_enough "$DUOLOGUE_PYTHON" ||
            stop "DUOLOGUE_PYTHON is $DUOLOGUE_PYTHON, which is not a Python 3.11 or newer."
        echo "$DUOLOGUE_PYTHON"
        return
    fi
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    stop "Duologue needs Python 3.11 or newer, and there is none on the PATH: install it (on Debian and Ubuntu: sudo apt install python3 python3-venv) and run make again."
}

make_environment() {
    if command -v uv >/dev/null; then
        echo "Creating the Python environment in .venv with uv ..."
        rm -rf .venv
        uv venv --quiet --python "${DUOLOGUE_PYTHON:->=3.11}" .venv
        return
    fi
    found=$(find_python)
    "$found" -c 'import ensurepip, venv' 2>/dev/null || {
        version=$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        stop "Python $version has no venv module: install it (on Debian and Ubuntu: sudo apt install python$version-venv) and run make again."
    }
    echo "Creating the Python environment in .venv ..."
    rm -rf .venv
    "$found" -m venv .venv
}

install() {
    if command -v uv >/dev/null; then
        uv pip install --quiet --python "$python" "$@"
    else
        "$python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

# Installs the versions in these files of requirements/, which together pin every package. The checkout itself has no
# hash, so it is installed in a separate step.
install_locked() {
    for name in "$@"; do
        shift
        set -- "$@" --requirement "requirements/$name.txt"
    done
    install --require-hashes "$@"
}

# An environment that was moved or copied, or whose interpreter is gone, is recreated.
{ is_new_enough "$python" && [ "$("$python" -c 'import sys; print(sys.prefix)')" = "$(pwd -P)/.venv" ]; } ||
    make_environment
case "$1" in
runtime)
    echo "Installing Duologue and the packages it needs (once; a minute or two) ..."
    install_locked runtime voice || {
        # Not every platform has a wheel of each voice library; text needs none of them.
        echo "The voice could not be installed; continuing without it. \`$python -m pip install -r requirements/runtime.txt -r requirements/voice.txt\` says why."
        install_locked runtime
    }
    ;;
development)
    echo "Installing Duologue with the tools for tests and checks (once; a minute or two) ..."
    install_locked runtime voice postgres tracing s3 development
    touch .venv/.development
    ;;
*)
    stop "usage: scripts/environment.sh runtime | development"
    ;;
esac
# Its build backend and its dependencies are already installed, so nothing is downloaded. A dependency missing from the lock
# is installed anyway; tests/test_requirements.py reports it.
install --no-build-isolation --editable .
touch .venv/.runtime
