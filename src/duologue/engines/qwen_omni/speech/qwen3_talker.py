"""The talker of Qwen3-Omni: speech codes in groups, one group for each token of the reply and on until it says that it has ended.

Made by `reply_speech`, which calls it. The talker reads what the user said: the embeddings of text, and of pictures and sound the
thinker's states of one layer. Of the reply it reads embeddings, with marks of the voice before. It chooses the first code of a group; a
small network, the predictor, adds the others. The library's `generate()` does this once the whole reply is written. `h` is the talker's width.
"""

from __future__ import annotations

from typing import Any

from duologue.engines.qwen_omni.speech.code_sampling import CodeSampler, CodeSampling
from duologue.engines.qwen_omni.speech.talker_positions import next_position, talker_positions
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace

SAMPLING = CodeSampling(temperature=0.9, top_k=50, top_p=1.0, repetition_penalty=1.05)
PREDICTOR_SAMPLING = CodeSampling(temperature=1.0, top_k=50, top_p=0.8)
"""As the library's `generate()` has them."""
DEFAULT_VOICE = "ethan"
HEADER = 3
"""Tokens before a reply that name its role: `<|im_start|>`, the role, a line break."""
MARKS = 9
"""Positions between what the user said and the first code: the header, the marks of the voice, the first token."""


class Qwen3Talker:
    """Of one model, for all its replies. Nothing is written to the model."""

    code_rate = 12.5
    """Groups of codes of a second of speech."""

    def __init__(self, torch: Any, new_cache: Any, model: Any) -> None:
        """`new_cache` makes an empty cache of keys and values."""
        self.torch, self.new_cache, self.model = torch, new_cache, model.talker
        self.device = model.talker.codec_head.weight.device
        self.config, self.marks = model.config, model.config.talker_config
        self.layer = int(self.marks.accept_hidden_layer)
        self.sampling, self.predictor_sampling = SAMPLING, PREDICTOR_SAMPLING
        """As the weights ask for it; may be replaced."""
        self._voices = {str(name): int(code) for name, code in (self.marks.speaker_id or {}).items()}
        self.end = int(self.marks.codec_eos_token_id)
        # Beside the codes there are marks in the talker's vocabulary, which the vocoder does not know.
        known = int(model.code2wav.config.codebook_size)
        self.banned = self._beyond(known, int(self.marks.text_config.vocab_size), but=self.end)
        self.predictor_banned = self._beyond(known, int(self.marks.code_predictor_config.vocab_size), but=-1)
        texts = model.thinker.get_input_embeddings()
        with torch.inference_mode():
            marks = (
                self.config.tts_bos_token_id,
                self.config.tts_eos_token_id,
                self.config.tts_pad_token_id,
            )
            places = torch.tensor(marks, device=texts.weight.device)
            made = self.model.text_projection(texts(places).to(self.device))
            self.bos_text, self.end_text, self.pad_text = made[0:1], made[1:2], made[2:3]

    @property
    def voices(self) -> tuple[str, ...]:
        """The default first."""
        return tuple(sorted(self._voices, key=lambda name: (name != DEFAULT_VOICE, name)))

    def reply(self, voice: str, generator: Any) -> Qwen3Reply:
        """A new reply in this voice; `generator` is its chance."""
        return Qwen3Reply(self, self._voices[voice], generator)

    def text(self, trace: ThinkerTrace, start: int, end: int) -> Any:
        """[end - start, h]: what is read of these tokens."""
        embeddings = trace.embeddings[start:end].to(self.device, self.model.dtype)
        return self.model.text_projection(embeddings)

    def heard(self, trace: ThinkerTrace, start: int, end: int) -> Any:
        """[end - start, h]: what is read of these tokens of the user, pictures and sound among them."""
        states = self.model.hidden_projection(trace.hidden[start:end].to(self.device, self.model.dtype))
        media = trace.media[start:end, None].to(self.device)
        return self.torch.where(media, states, self.text(trace, start, end))

    def code_embeddings(self, codes: list[int]) -> Any:
        """[n, h]: of codes that the talker itself chooses, and of its marks."""
        return self.model.get_input_embeddings()(self.torch.tensor(codes, device=self.device))

    def turns(self, ids: list[int]) -> tuple[list[tuple[int, int]], int]:
        """Where the user's turns are in a prompt, each from its start to before the next turn's; and where the reply begins."""
        starts = [at for at, token in enumerate(ids[:-1]) if token == self.config.im_start_token_id]
        ends = [*starts[1:], len(ids)]
        said = [
            (start, end)
            for start, end in zip(starts, ends, strict=True)
            if ids[start + 1] == self.config.user_token_id
        ]
        replies = [start for start in starts if ids[start + 1] == self.config.assistant_token_id]
        return said, replies[-1] if replies else max(0, len(ids) - HEADER)

    def _beyond(self, known: int, vocabulary: int, *, but: int) -> Any:
        codes = [code for code in range(known, vocabulary) if code != but]
        return self.torch.tensor(codes, device=self.device, dtype=self.torch.long)


class Qwen3Reply:
    """The groups of codes of one reply. Each call blocks for a step of the talker and one of the predictor."""

    def __init__(self, talker: Qwen3Talker, voice: int, generator: Any) -> None:
        self._talker, self._voice = talker, voice
        torch = talker.torch
        self._sampler = CodeSampler(torch, talker.sampling, generator, banned=talker.banned)
        self._predicted = CodeSampler(
            torch, talker.predictor_sampling, generator, banned=talker.predictor_banned
        )
        self._cache = talker.new_cache()
        self._next = 0
        self._spoken: Any = None
        """[1, h]: the sum of the embeddings of the last group."""

    def start(self, trace: ThinkerTrace, prompt: int, first: int) -> tuple[int, ...] | None:
        """Read the `prompt` tokens and that in row `first`, with which the reply begins. The first group; None: there is no speech."""
        talker, marks = self._talker, self._talker.marks
        said, begin = talker.turns(trace.ids[:prompt].tolist())
        header = talker.text(trace, begin, begin + HEADER)
        codes = talker.code_embeddings(
            [
                marks.codec_nothink_id,
                marks.codec_think_bos_id,
                marks.codec_think_eos_id,
                self._voice,
                marks.codec_pad_id,
                marks.codec_bos_id,
            ]
        )
        begun = talker.text(trace, first, first + 1)
        beside = talker.torch.cat([talker.pad_text.expand(4, -1), talker.bos_text, begun])
        heard = [talker.heard(trace, start, end) for start, end in said]
        positions = talker_positions(talker.torch, trace, said, MARKS, talker.device)
        self._next = int(positions[0, 0, -1]) + 1
        return self._step(talker.torch.cat([*heard, header, codes + beside]), positions)

    def follow(self, text: Any) -> tuple[int, ...] | None:
        """The next group, where `text` [1, h] is read beside the last one. None: the speech has ended."""
        talker = self._talker
        positions = next_position(talker.torch, self._next, talker.device)
        self._next += 1
        return self._step(self._spoken + text, positions)

    def _step(self, inputs: Any, positions: Any) -> tuple[int, ...] | None:
        model = self._talker.model
        read = model.model(
            inputs_embeds=inputs[None], position_ids=positions, past_key_values=self._cache, use_cache=True
        )
        state = read.last_hidden_state[0, -1:]
        code = self._sampler.choose(model.codec_head(state)[0])
        return None if code == self._talker.end else self._complete(state, code)

    def _complete(self, state: Any, code: int) -> tuple[int, ...]:
        """The whole group that begins with `code`, which was chosen by the talker's `state` [1, h]."""
        talker = self._talker
        predictor = talker.model.code_predictor
        tables = predictor.get_input_embeddings()
        self._spoken = talker.code_embeddings([code])
        cache = talker.new_cache()
        group = [code]
        read = predictor(
            inputs_embeds=talker.torch.cat([state, self._spoken])[None], past_key_values=cache, use_cache=True
        )
        for number, table in enumerate(tables, 1):
            last = self._predicted.choose(read.logits[0, -1])
            group.append(last)
            place = talker.torch.tensor([[last]], device=talker.device)
            self._spoken = self._spoken + table(place)[0]
            if number < len(tables):
                read = predictor(
                    input_ids=place, generation_steps=number, past_key_values=cache, use_cache=True
                )
        return tuple(group)
