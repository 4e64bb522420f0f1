#!/bin/sh
# Trains the large duologue-mini on one GPU, from nothing to a parcel that export can read, and goes on where it was
# stopped. Data is made in the background on all cores but two; training begins with the first shard.
#
#   mini/large.sh MINUTES [STOP_AFTER [PARCEL]]
#
# MINUTES of the whole run (the schedule spans them); this call ends after STOP_AFTER of them; every minute PARCEL is
# written anew. $PYTHON names the interpreter, $DIALOGUES how much data there is to be, $SEED which; $FROM is the folder
# of an earlier run (a parcel put together, say) whose weights and tokenizer this one begins with.
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
going="--size large"
[ -z "${FROM:-}" ] || going="--from $FROM"
[ -f "$data/checkpoint.pt" ] && going=--resume
# Until the tokenizer and the first shards are there, the trainer waits.
# shellcheck disable=SC2086 # two words
"$python" -m duologue_mini.training.train --data "$data" $going --batch-tokens "${BATCH:-65536}" --window 12 --warmup-steps 200 \
    --minutes "$minutes" --stop-after "$stop_after" --parcel "$parcel"
tail -n 3 "$data/corpus.log"
