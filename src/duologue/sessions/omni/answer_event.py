"""The event that tells of the answer to a unit. Pure."""

from __future__ import annotations

from msgspec import structs

from duologue.engines.contracts import UnitAnswer, UnitCosts
from duologue.values.call_events import UnitAnswered


def answer_event(
    epoch: int, unit: int, samples: int, answer: UnitAnswer, reply: int | None, late: float
) -> UnitAnswered:
    """Of the unit with this number. `reply`: what it said was of this reply; None: nothing was said. `late` in milliseconds."""
    costs = answer.costs
    return UnitAnswered(
        epoch,
        unit,
        samples,
        listens=reply is None,
        reply=reply,
        end_of_turn=reply is not None and answer.end_of_turn,
        cached=answer.cached,
        written=answer.written,
        codes=answer.codes,
        slices=answer.slices,
        vision_tokens=answer.vision_tokens,
        prefill_ms=costs.prefill,
        language_ms=costs.language,
        speech_ms=costs.speech,
        vocoder_ms=costs.vocoder,
        late_ms=round(late, 1),
    )


def together(one: UnitAnswer, two: UnitAnswer) -> UnitAnswer:
    """Two answers, of which the second goes on with the first, as one."""
    costs = {
        name: getattr(one.costs, name) + getattr(two.costs, name) for name in UnitCosts.__struct_fields__
    }
    return structs.replace(
        two,
        listens=one.listens and two.listens,
        text=one.text + two.text,
        pcm=one.pcm + two.pcm,
        written=one.written + two.written,
        codes=one.codes + two.codes,
        slices=one.slices + two.slices,
        vision_tokens=one.vision_tokens + two.vision_tokens,
        costs=UnitCosts(**costs),
    )
