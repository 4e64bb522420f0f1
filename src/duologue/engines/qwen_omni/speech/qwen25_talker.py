"""The talker of Qwen2.5-Omni: speech codes, one for each token of the reply and on until it says that it has ended.

Made by `reply_speech`, which calls it. The talker reads, of every token that the thinker has read, its embedding plus its last
state. Beside its own last code it reads the next token of the reply, then a mark of the text's end, then padding. The library's `generate()`
does this once the whole reply is written. `d` is the thinker's width, which is that of the talker's embeddings too.
"""

from __future__ import annotations

from typing import Any

from duologue.engines.qwen_omni.speech.code_sampling import CodeSampler, CodeSampling
from duologue.engines.qwen_omni.speech.talker_positions import next_position, talker_positions
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace

SAMPLING = CodeSampling(temperature=0.9, top_k=40, top_p=0.8, repetition_penalty=1.05)
"""As the library's `generate()` has it."""
DEFAULT_VOICE = "Chelsie"


class Qwen25Talker:
    """Of one model, for all its replies. Nothing is written to the model."""

    layer = -1
    code_rate = 50.0
    """Codes of a second of speech."""

    def __init__(self, torch: Any, new_cache: Any, model: Any) -> None:
        """`new_cache` makes an empty cache of keys and values."""
        self.torch, self.new_cache, self.model = torch, new_cache, model.talker
        self.device = model.talker.codec_head.weight.device
        self.sampling = SAMPLING
        """As the weights ask for it; may be replaced."""
        self._voices = {name: int(voice["bos_token"]) for name, voice in model.speaker_map.items()}
        self.pad_code, self.bos_code = int(self.model.codec_pad_token), int(self.model.codec_bos_token)
        self.mask_code = int(self.model.codec_mask_token)
        self.ends = frozenset((self.pad_code, int(self.model.codec_eos_token)))
        # Beside the codes there are marks in the talker's vocabulary, which the vocoder does not know.
        known = int(model.token2wav.config.dit_config.num_embeds)
        self.banned = torch.tensor(
            [
                code
                for code in range(int(self.model.codebook_size))
                if code == self.bos_code or (code >= known and code not in self.ends)
            ],
            device=self.device,
            dtype=torch.long,
        )
        self._texts = model.thinker.get_input_embeddings()
        with torch.inference_mode():
            self.end_text = self.text_embedding(int(self.model.text_eos_token))
            self.pad_text = self.text_embedding(int(self.model.text_pad_token))

    @property
    def voices(self) -> tuple[str, ...]:
        """The default first."""
        return tuple(sorted(self._voices, key=lambda name: (name != DEFAULT_VOICE, name)))

    def reply(self, voice: str, generator: Any) -> Qwen25Reply:
        """A new reply in this voice; `generator` is its chance."""
        return Qwen25Reply(self, self._voices[voice], generator)

    def text_embedding(self, token: int) -> Any:
        """[1, d]: the thinker's embedding of a token."""
        place = self.torch.tensor([token], device=self._texts.weight.device)
        return self._texts(place).to(self.device)

    def code_embedding(self, code: int) -> Any:
        """[1, d]"""
        return self.model.get_input_embeddings()(self.torch.tensor([code], device=self.device))

    def text(self, trace: ThinkerTrace, start: int, end: int) -> Any:
        """[end - start, d]: what is read of these tokens. Of pictures and sound that is their state alone."""
        embeddings = trace.embeddings[start:end].masked_fill(trace.media[start:end, None], 0.0)
        return (embeddings + trace.hidden[start:end]).to(self.device, self.model.dtype)


class Qwen25Reply:
    """The codes of one reply. Each call blocks for a step of the talker."""

    def __init__(self, talker: Qwen25Talker, bos: int, generator: Any) -> None:
        self._talker, self._bos = talker, bos
        self._sampler = CodeSampler(
            talker.torch,
            talker.sampling,
            generator,
            banned=talker.banned,
            # The library counts the marks that stand for the prompt as said.
            seen=(talker.mask_code, talker.pad_code, talker.bos_code),
        )
        self._cache = talker.new_cache()
        self._next = 0
        self._code = 0

    def start(self, trace: ThinkerTrace, prompt: int, first: int) -> tuple[int, ...] | None:
        """Read the `prompt` tokens and that in row `first`, with which the reply begins. The first code; None: there is no speech."""
        talker = self._talker
        text = talker.text(trace, 0, prompt)
        bos = talker.text_embedding(self._bos) + talker.code_embedding(talker.pad_code)
        begun = talker.text(trace, first, first + 1) + talker.code_embedding(talker.bos_code)
        positions = talker_positions(talker.torch, trace, [(0, prompt)], 2, talker.device)
        self._next = int(positions[0, 0, -1]) + 1
        return self._step(talker.torch.cat([text, bos, begun]), positions)

    def follow(self, text: Any) -> tuple[int, ...] | None:
        """The next code, where `text` [1, d] is read beside the last one. None: the speech has ended."""
        talker = self._talker
        positions = next_position(talker.torch, self._next, talker.device)
        self._next += 1
        return self._step(talker.code_embedding(self._code) + text, positions)

    def _step(self, inputs: Any, positions: Any) -> tuple[int, ...] | None:
        model = self._talker.model
        read = model.model(
            inputs_embeds=model.thinker_to_talker_proj(inputs[None]),
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
        )
        self._code = self._sampler.choose(model.codec_head(read.last_hidden_state[0, -1]))
        return None if self._code in self._talker.ends else (self._code,)
