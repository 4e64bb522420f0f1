"""Which parts of a call leave the cache when it grows beyond its window: the oldest first, the system's prompt never. Pure.

Kept by `held_call` beside its sequence. After the prompt, which ends with the caller's turn open, come rounds: units of the caller, and
then perhaps a reply, from the marks that end the caller's turn to those that open the next one. Without its units and its reply a round leaves
nothing behind, so what remains is a conversation as the model knows them.
"""

from __future__ import annotations


class CallRound:
    """`units`: the tokens of each unit and each typed text; `reply`: those of the reply with the marks around it."""

    def __init__(self) -> None:
        self.units: list[int] = []
        self.reply = 0


class UnitWindow:
    """`prompt`: tokens that stay. `most`: tokens above which the oldest leave, down to `kept`."""

    def __init__(self, prompt: int, most: int) -> None:
        self._prompt, self._most, self._kept = prompt, most, most * 3 // 4
        self._rounds: list[CallRound] = [CallRound()]

    def read(self, tokens: int) -> None:
        """A unit or a text of the caller was read."""
        self._rounds[-1].units.append(tokens)

    def replied(self, tokens: int) -> None:
        """The reply is complete with its marks; the caller's next turn is open."""
        self._rounds[-1].reply = tokens
        self._rounds.append(CallRound())

    def unread_reply(self) -> None:
        """The last reply is open again: it is cut."""
        if len(self._rounds) > 1 and not self._rounds[-1].units:
            self._rounds.pop()
            self._rounds[-1].reply = 0

    def leaving(self, length: int) -> int:
        """How many tokens behind the prompt leave now, of a cache of `length`; they are forgotten here. The last unit stays."""
        if length <= self._most:
            return 0
        leaving = 0
        while length - leaving > self._kept:
            oldest = self._rounds[0]
            is_last = len(self._rounds) == 1
            if len(oldest.units) > is_last:
                leaving += oldest.units.pop(0)
            elif not is_last:
                leaving += oldest.reply
                self._rounds.pop(0)
            else:
                break
        return leaving
