"""Speaking a clause with Kokoro, whichever library runs it: part by part, in a lane, with word timestamps.

Called by `kokoro` and `kokoro_onnx`, which each pass a function that synthesises one part.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

from duologue.engines.audio.pcm import no_speech, shift_phones, shift_words, split_chunks
from duologue.engines.contracts import SpeechChunk, SpokenWord
from duologue.engines.tts.clause_split import check_length, parts_of
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import SAMPLE_BYTES
from duologue.values.mouth import Phone

SLOWEST, FASTEST = 0.5, 2.0
LONGEST = 4000
"""Characters of one clause."""
AHEAD = 8
"""Chunks that may be synthesised ahead of the listener."""

SpokenPart = tuple[bytes, tuple[SpokenWord, ...], tuple[Phone, ...]]
Synthesise = Callable[[str, float], Iterator[SpokenPart]]
"""Text and speed -> the PCM of the text, in one or more pieces, each with its words and phones. Blocks."""


@asynccontextmanager
async def speak_clause(
    lane: ThreadLane, clause: str, speed: float, synthesise: Synthesise
) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
    """The sound of the clause, a part of at most two lines at a time; leaving waits for the part at work. Raises TooLarge
    for more than LONGEST characters."""
    check_length(clause, LONGEST)
    if not any(map(str.isalnum, clause)):
        yield no_speech()
        return

    def step(emit: Emit[SpeechChunk]) -> None:
        start = 0
        for at, to in parts_of(clause):
            for pcm, words, phones in synthesise(clause[at:to], max(SLOWEST, min(FASTEST, speed))):
                words, phones = shift_words(words, start, at), shift_phones(phones, start)
                if not all(map(emit, split_chunks(pcm, words, start, phones))):
                    return
                start += len(pcm) // SAMPLE_BYTES

    async with lane.stream(step, AHEAD) as chunks:
        yield chunks
