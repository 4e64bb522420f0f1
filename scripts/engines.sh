#!/bin/sh
# Tries the optional engines of speech: each extra of the package in an environment of its own, build/engines/NAME, with its
# real library, on tiny models that the tests make there. Nothing is fetched but packages.
#
#   scripts/engines.sh [NAME ...]    whisper, sherpa, kokoro-onnx, kokoro, qwen; all of them without a name
#
# An environment is removed when its tests are done, for two of them are large; KEEP=1 keeps them, and uses those that are
# there. $DUOLOGUE_TORCH is the PyTorch to install ("torch==2.13.0"); without it the newest build for processors is taken.
# Exits with 1 when one of them could not be installed or failed, after the others were tried.
set -eu
cd "$(dirname "$0")/.."
python=${DUOLOGUE_PYTHON:-.venv/bin/python}
processors=https://download.pytorch.org/whl/cpu
failed=

install() {
    if command -v uv >/dev/null; then
        uv pip install --quiet --python "$place/bin/python" "$@"
    else
        "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

# A processor's PyTorch: the usual build brings gigabytes for graphics cards.
install_torch() {
    if [ -n "${DUOLOGUE_TORCH:-}" ]; then
        install "$DUOLOGUE_TORCH"
    elif command -v uv >/dev/null; then
        install --index-url "$processors" torch
    else
        install --extra-index-url "$processors" torch
    fi
}

# It is called in a condition, where the shell does not stop at a command that fails.
make_environment() {
    rm -rf "$place"
    mkdir -p build/engines
    if command -v uv >/dev/null; then
        uv venv --quiet --python "$python" "$place" || return 1
    else
        "$python" -m venv "$place" || return 1
    fi
    case "$1" in
    kokoro | qwen) install_torch || return 1 ;;
    esac
    # What is there of PyTorch stays: the extra alone might replace it by the usual build.
    "$place/bin/python" -c 'from importlib.metadata import version; print("torch==" + version("torch"))' \
        >"$place/kept" 2>/dev/null || : >"$place/kept"
    install --constraint "$place/kept" --editable ".[$1]" onnx pytest || return 1
    touch "$place/.done"
}

[ $# -gt 0 ] || set -- whisper sherpa kokoro-onnx kokoro qwen
for name in "$@"; do
    case "$name" in
    whisper | sherpa | kokoro-onnx | kokoro) tests="test_$(echo "$name" | tr - _).py" ;;
    qwen) tests=test_qwen_asr.py ;;
    *)
        echo "There is no engine $name: whisper, sherpa, kokoro-onnx, kokoro and qwen are." >&2
        exit 1
        ;;
    esac
    place=build/engines/$name
    echo "== $name"
    if { [ -f "$place/.done" ] || make_environment "$name"; } &&
        "$place/bin/python" -m pytest -W ignore "tests/engines_extra/$tests"; then
        "$place/bin/python" -m pip list --format freeze 2>/dev/null |
            grep -iE '^(faster-whisper|ctranslate2|sherpa-onnx|kokoro|kokoro-onnx|qwen-asr|torch|onnxruntime|transformers)=' || :
    else
        failed="$failed $name"
    fi
    [ -n "${KEEP:-}" ] || rm -rf "$place"
done
if [ -n "$failed" ]; then
    echo "Failed:$failed" >&2
    exit 1
fi
