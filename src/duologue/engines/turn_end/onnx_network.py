"""A small ONNX network, run by the ONNX runtime that sherpa-onnx brings along, through its C interface, by ctypes.

Used by `smart_turn`. sherpa-onnx has no way to run a network it does not know, but the runtime in its wheel does; a second
runtime would be ten times the size of the network. The interface is a table of functions whose order never changes:
onnxruntime_c_api.h, version 1. See decision 34.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from duologue.errors import StartFailed

_API_VERSION = 1
_TABLE = 102
"""Functions of version 1."""
_ERRORS_ONLY = 3
_FLOAT = 1
_ARENA, _DEFAULT_MEMORY = 1, 0

_pointer, _int, _size, _text = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p
# name -> its place in the table, and the types of its arguments; each gives a status, which is null when all went well.
_FUNCTIONS: dict[str, tuple[int, tuple[Any, ...]]] = {
    "CreateEnv": (3, (_int, _text, _pointer)),
    "CreateSessionFromArray": (8, (_pointer, _text, _size, _pointer, _pointer)),
    "Run": (9, (_pointer, _pointer, _pointer, _pointer, _size, _pointer, _size, _pointer)),
    "CreateSessionOptions": (10, (_pointer,)),
    "SetIntraOpNumThreads": (24, (_pointer, _int)),
    "CreateTensorWithDataAsOrtValue": (49, (_pointer, _pointer, _size, _pointer, _size, _int, _pointer)),
    "CreateCpuMemoryInfo": (69, (_int, _int, _pointer)),
}
_GET_ERROR_MESSAGE, _RELEASE_STATUS = 2, 93
_RELEASES = {"memory": 94, "session": 95, "value": 96, "options": 100}


class OnnxError(Exception):
    """What the runtime says is wrong."""


class OnnxNetwork:
    """A network with one input and one output of floats, of fixed shapes. One call at a time; each blocks, without the
    interpreter's lock, and uses one thread."""

    def __init__(
        self,
        weights: bytes,
        *,
        reads: tuple[str, Sequence[int]],
        writes: tuple[str, Sequence[int]],
    ) -> None:
        """`reads` and `writes` are the name and shape of its input and output. Raises OnnxError for a file that is no network,
        StartFailed where the runtime is missing. That names and shapes fit is known after the first `run`."""
        self._runtime = _runtime()
        self._inputs = _Port(*reads)
        self._outputs = _Port(*writes)
        self._memory = self._runtime.make("CreateCpuMemoryInfo", _ARENA, _DEFAULT_MEMORY)
        options = self._runtime.make("CreateSessionOptions")
        try:
            self._runtime.call("SetIntraOpNumThreads", options, 1)
            self._session = self._runtime.make(
                "CreateSessionFromArray", self._runtime.environment, weights, len(weights), options
            )
        except OnnxError:
            self._runtime.release("memory", self._memory)
            raise
        finally:
            self._runtime.release("options", options)

    def run(self, values: bytes) -> list[float]:
        """The output for an input, which is given as the bytes of its floats. Raises OnnxError, ValueError for another size."""
        reads, writes = self._inputs, self._outputs
        if len(values) != ctypes.sizeof(reads.floats):
            raise ValueError(f"the input has {ctypes.sizeof(reads.floats)} bytes, not {len(values)}")
        ctypes.memmove(reads.floats, values, len(values))
        tensors: list[Any] = []
        try:
            for port in (reads, writes):
                tensors.append(self._tensor(port))
            given, taken = (_pointer * 1)(tensors[0]), (_pointer * 1)(tensors[1])
            self._runtime.call("Run", self._session, None, reads.names, given, 1, writes.names, 1, taken)
            return list(writes.floats)
        finally:
            for tensor in tensors:
                self._runtime.release("value", tensor)

    def close(self) -> None:
        """Free the network. It is not used afterwards."""
        self._runtime.release("session", self._session)
        self._runtime.release("memory", self._memory)

    def _tensor(self, port: _Port) -> Any:
        """A tensor over the port's own memory."""
        return self._runtime.make(
            "CreateTensorWithDataAsOrtValue",
            *(self._memory, port.floats, ctypes.sizeof(port.floats), port.shape, len(port.shape), _FLOAT),
        )


class _Port:
    """An input or output: its name, shape, and the memory of its values."""

    def __init__(self, name: str, shape: Sequence[int]) -> None:
        self.names = (ctypes.c_char_p * 1)(name.encode())
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.floats = (ctypes.c_float * math.prod(shape))()


class _Runtime:
    """The functions of the library."""

    def __init__(self, library: Path) -> None:
        start = ctypes.CDLL(str(library)).OrtGetApiBase
        start.restype = ctypes.POINTER(_pointer)
        table_of = ctypes.CFUNCTYPE(_pointer, ctypes.c_uint32)(start()[0] or 0)
        if not (table := table_of(_API_VERSION)):
            raise OSError("it does not offer version 1 of its interface")
        entries = ctypes.cast(table, ctypes.POINTER(_pointer * _TABLE)).contents
        self._table = [entry or 0 for entry in entries]
        self._calls = {
            name: ctypes.CFUNCTYPE(_pointer, *types)(self._table[place])
            for name, (place, types) in _FUNCTIONS.items()
        }
        self._message = ctypes.CFUNCTYPE(_text, _pointer)(self._table[_GET_ERROR_MESSAGE])
        self._release_status = self._releaser(_RELEASE_STATUS)
        self._releases = {kind: self._releaser(place) for kind, place in _RELEASES.items()}
        self.environment = self.make("CreateEnv", _ERRORS_ONLY, b"duologue")

    def _releaser(self, place: int) -> Any:
        return ctypes.CFUNCTYPE(None, _pointer)(self._table[place])

    def call(self, name: str, *arguments: Any) -> None:
        """Raises OnnxError with the runtime's words."""
        status = self._calls[name](*arguments)
        if status:
            message = self._message(status).decode("utf-8", "replace")
            self._release_status(status)
            raise OnnxError(message)

    def make(self, name: str, *arguments: Any) -> Any:
        """What this function creates: its last argument is where it writes it. Raises OnnxError."""
        made = _pointer()
        self.call(name, *arguments, ctypes.byref(made))
        return made

    def release(self, kind: str, made: Any) -> None:
        """Free what `make` gave."""
        self._releases[kind](made)


@cache
def _runtime() -> _Runtime:
    """The runtime, loaded once for the whole process. Raises StartFailed."""
    advice = "It comes with sherpa-onnx: pip install 'duologue[voice]'"
    library = find_library()
    if library is None:
        raise StartFailed(f"There is no ONNX runtime on this machine. {advice}", code="engine_missing")
    try:
        return _Runtime(library)
    except (OSError, AttributeError) as error:
        raise StartFailed(f"The ONNX runtime {library} cannot be loaded ({error}). {advice}") from None


def find_library() -> Path | None:
    """The runtime inside the installed sherpa-onnx, which is looked up and not imported."""
    spec = find_spec("sherpa_onnx")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder, "lib").glob("*onnxruntime*")):
            if "providers" not in path.name and path.suffix in (".so", ".dylib", ".dll"):
                return path
    return None
