"""Asks the engine itself whether a grammar admits a text: its own matchers of GBNF and of llguidance, fed token by token.

The Python package has no call for that, so llama.cpp's C functions are called in its library. Used by `bench_schemas`.
"""

from __future__ import annotations

import ctypes
import math
import time
from pathlib import Path
from typing import Any

import xllamacpp.xllamacpp as library

LARGE_STRUCT = 4096
"""Bytes that hold any of the library's structs of parameters, which are passed by value."""
NEW_LLG = "_Z22llama_sampler_init_llgPK11llama_vocabPKcS3_"


class _Parameters(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * LARGE_STRUCT)]


class _Token(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]


class _Tokens(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.POINTER(_Token)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    ]


class TokenMatcher:
    """The vocabulary of one model. `grammar` is GBNF, or `%llguidance {}` with Lark after it."""

    def __init__(self, model: Path) -> None:
        self._library = found = ctypes.CDLL(library.__file__)
        pointer, integer = ctypes.c_void_p, ctypes.c_int32
        types: dict[str, tuple[Any, list[Any]]] = {
            "llama_model_default_params": (_Parameters, []),
            "llama_model_load_from_file": (pointer, [ctypes.c_char_p, _Parameters]),
            "llama_model_get_vocab": (pointer, [pointer]),
            "llama_vocab_n_tokens": (integer, [pointer]),
            "llama_vocab_eos": (integer, [pointer]),
            "llama_vocab_eot": (integer, [pointer]),
            "llama_tokenize": (
                integer,
                [pointer, ctypes.c_char_p, integer, pointer, integer, ctypes.c_bool, ctypes.c_bool],
            ),
            "llama_sampler_init_grammar": (pointer, [pointer, ctypes.c_char_p, ctypes.c_char_p]),
            NEW_LLG: (pointer, [pointer, ctypes.c_char_p, ctypes.c_char_p]),
            "llama_sampler_apply": (None, [pointer, ctypes.POINTER(_Tokens)]),
            "llama_sampler_accept": (None, [pointer, integer]),
            "llama_sampler_free": (None, [pointer]),
        }
        for name, (result, arguments) in types.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
        loaded = found.llama_model_load_from_file(str(model).encode(), found.llama_model_default_params())
        self._vocabulary = found.llama_model_get_vocab(loaded)
        self._size = found.llama_vocab_n_tokens(self._vocabulary)
        self._end = max(found.llama_vocab_eot(self._vocabulary), found.llama_vocab_eos(self._vocabulary))

    def compiles(self, grammar: str) -> float | None:
        """Seconds until the first token can be judged; None if the grammar cannot be read."""
        began = time.perf_counter()
        sampler = self._sampler(grammar)
        if not sampler:
            return None
        allowed = self._allowed(sampler)
        taken = time.perf_counter() - began
        self._library.llama_sampler_free(sampler)
        # What llguidance cannot compile constrains nothing.
        return None if all(allowed) else taken

    def admits(self, grammar: str, text: str) -> bool:
        """Whether the grammar admits the whole text, cut as the tokenizer cuts it."""
        sampler = self._sampler(grammar)
        try:
            for token in (*self._tokens(text), self._end):
                if not self._allowed(sampler)[token]:
                    return False
                if token != self._end:
                    self._library.llama_sampler_accept(sampler, token)
        finally:
            self._library.llama_sampler_free(sampler)
        return True

    def _sampler(self, grammar: str) -> Any:
        if grammar.startswith("%llguidance"):
            return getattr(self._library, NEW_LLG)(self._vocabulary, b"lark", grammar.encode())
        return self._library.llama_sampler_init_grammar(self._vocabulary, grammar.encode(), b"root")

    def _allowed(self, sampler: Any) -> list[bool]:
        tokens = (_Token * self._size)(*((token, 0.0, 0.0) for token in range(self._size)))
        self._library.llama_sampler_apply(sampler, ctypes.byref(_Tokens(tokens, self._size, -1, False)))
        allowed = [False] * self._size
        for token in tokens:
            allowed[token.id] = not math.isinf(token.logit)
        return allowed

    def _tokens(self, text: str) -> list[int]:
        raw, room = text.encode(), len(text.encode()) + 8
        buffer = (ctypes.c_int32 * room)()
        count = self._library.llama_tokenize(self._vocabulary, raw, len(raw), buffer, room, False, False)
        return list(buffer[:count])
