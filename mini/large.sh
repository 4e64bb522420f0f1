#!/bin/sh
# Trains the large duologue-mini on one GPU, from scratch to a parcel that export can read; run again, it resumes. Data is made
# in the background on all cores but two; training starts with the first shard.
#
#   mini/large.sh MINUTES [STOP_AFTER [PARCEL]]
#
# MINUTES is the length of the whole run, which the schedule spans; this call ends after STOP_AFTER of them. PARCEL, a folder
# (a relative path is in mini/), is rewritten every minute. Environment: PYTHON, the interpreter; DIALOGUES, the amount of
# data, and SEED, its seed; FROM, the folder of an earlier run, such as a joined parcel, to take weights and tokenizer from.
set -eu
cd "$(dirname "$0")"
python=${PYTHON:-python3}
minutes=$1
stop_after=${2:-$1}
data=build/large
parcel=${3:-$data/parcel}
cores=$(nproc)
makers=$((cores > 3 ? cores - 2 : 1))
mkdir -p "$data"
[ -z "${FROM:-}" ] || cp "$FROM/tokenizer.json" "$data/"

if ! { [ -f "$data/corpus.pid" ] && kill -0 "$(cat "$data/corpus.pid")" 2>/dev/null; }; then
    setsid nohup "$python" -m duologue_mini.data.corpus --data "$data" --vocabulary 4096 --processes "$makers" \
        --dialogues "${DIALOGUES:-5000000}" --seed "${SEED:-1}" >>"$data/corpus.log" 2>&1 </dev/null &
    echo $! >"$data/corpus.pid"
fi
start="--size large"
[ -z "${FROM:-}" ] || start="--from $FROM"
[ -f "$data/checkpoint.pt" ] && start=--resume
# The trainer waits until the tokenizer and the first shards exist.
# shellcheck disable=SC2086 # $start is two words
"$python" -m duologue_mini.training.train --data "$data" $start --batch-tokens "${BATCH:-65536}" --window 12 --warmup-steps 200 \
    --minutes "$minutes" --stop-after "$stop_after" --parcel "$parcel"
tail -n 3 "$data/corpus.log"
