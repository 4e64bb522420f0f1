#!/bin/sh
# Tests the optional engines: each extra of the package in its own environment, build/engines/NAME, with its real
# library, on tiny models that the tests generate. Only packages are downloaded.
#
#   scripts/engines.sh [NAME ...]    whisper, kokoro-onnx, kokoro, qwen, pocket, omni, transformers, musetalk, wan, s3, ray; without a name
#                               all of them
#
# Environments are removed after their tests, because two of them are large; KEEP=1 keeps and reuses them. $DUOLOGUE_TORCH is
# the PyTorch to install ("torch==2.13.0"); the default is the newest CPU build. Exits with 1 if one of them could not be
# installed or failed, after the others were tested.
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

# The CPU build of PyTorch: the default build contains gigabytes for graphics cards.
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
    kokoro | qwen | pocket | omni | transformers | musetalk | wan) install_torch || return 1 ;;
    esac
    case "$1" in
    musetalk | wan) extra=video ;;
    *) extra=$1 ;;
    esac
    # Pin the installed PyTorch: the extra alone might replace it by the default build.
    "$place/bin/python" -c 'from importlib.metadata import version; print("torch==" + version("torch"))' \
        >"$place/kept" 2>/dev/null || : >"$place/kept"
    case "$1" in
    # The tests of the real server need a voice, those of quantised models bitsandbytes.
    omni) install --constraint "$place/kept" --editable '.[omni,voice]' bitsandbytes pytest hypothesis || return 1 ;;
    # The tests of workers over a cluster run the real server.
    ray) install --editable '.[ray]' pytest hypothesis || return 1 ;;
    transformers) install --constraint "$place/kept" --editable '.[transformers,voice]' pytest hypothesis || return 1 ;;
    s3) install --constraint "$place/kept" --editable '.[s3]' 'moto[server]' pytest || return 1 ;;
    *) install --constraint "$place/kept" --editable ".[$extra]" onnx pytest hypothesis || return 1 ;;
    esac
    touch "$place/.done"
}

[ $# -gt 0 ] || set -- whisper kokoro-onnx kokoro qwen pocket omni transformers musetalk wan s3 ray
for name in "$@"; do
    case "$name" in
    whisper | kokoro-onnx | kokoro | pocket | musetalk | wan | s3 | ray) tests="test_$(echo "$name" | tr - _).py" ;;
    qwen) tests=test_qwen_asr.py ;;
    omni) tests='test_qwen_omni*.py' ;;
    transformers) tests='test_huggingface*.py' ;;
    *)
        echo "There is no engine $name; choose from whisper, kokoro-onnx, kokoro, qwen, pocket, omni, transformers, musetalk, wan, s3 and ray." >&2
        exit 1
        ;;
    esac
    place=build/engines/$name
    echo "== $name"
    if { [ -f "$place/.done" ] || make_environment "$name"; } &&
        "$place/bin/python" -m pytest -W ignore tests/engines_extra/$tests; then # $tests may be a pattern
        "$place/bin/python" -m pip list --format freeze 2>/dev/null |
            grep -iE '^(faster-whisper|ctranslate2|kokoro|kokoro-onnx|qwen-asr|torch|onnxruntime|transformers|diffusers|peft|gguf|obstore|moto|ray)=' || :
    else
        failed="$failed $name"
    fi
    [ -n "${KEEP:-}" ] || rm -rf "$place"
done
if [ -n "$failed" ]; then
    echo "Failed:$failed" >&2
    exit 1
fi
