"""Caches that grow, are cut, joined and taken apart."""

from typing import Any

from tests.support.array_cache import (
    KINDS,
    TORCH,
    DummyLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionLayer,
    array,
    library,
)

from duologue.engines.huggingface.growing_cache import STEP, CacheMaker, GrowingKeys


def maker(*layers: Any) -> CacheMaker:
    return CacheMaker(library(*layers), TORCH, None)


def keys(*values: float) -> Any:
    """[1, 1, tokens, 1]."""
    return array(values)[None, None, :, None]


def filled(caches: CacheMaker, *values: float) -> Any:
    layer = caches.new().layers[0]
    layer.update(keys(*values), keys(*values))
    return layer


def told(layer: Any) -> list[list[float]]:
    assert layer.values.tolist() == layer.keys.tolist()
    rows: list[list[float]] = layer.keys[:, 0, :, 0].tolist()
    return rows


def test_it_grows_without_copying_and_is_cut_anywhere() -> None:
    layer = filled(maker(DynamicLayer), 1, 2, 3)
    room = layer._key_room
    layer.update(keys(4), keys(4))
    assert layer._key_room is room
    layer.cut(2)
    layer.update(keys(9), keys(9))
    assert told(layer) == [[1, 2, 9]]
    many = [float(number) for number in range(STEP)]
    layer.update(keys(*many), keys(*many))
    assert told(layer) == [[1, 2, 9, *many]]


def test_rows_end_together_and_are_what_they_were_when_they_leave() -> None:
    caches = maker(DynamicSlidingWindowLayer)
    long, short = filled(caches, 1, 2, 3), filled(caches, 7)
    joined = caches.joined([caches.row_of(long, 0, 3), caches.row_of(short, 0, 1)])
    joined.update(array([[[[4]]], [[[8]]]]), array([[[[4]]], [[[8]]]]))
    assert told(joined) == [[1, 2, 3, 4], [0, 0, 7, 8]]
    left = caches.alone(caches.row_of(joined, 1, 2))
    joined.keys[:], joined.values[:] = 0, 0
    assert told(left) == [[7, 8]]
    left.update(keys(9), keys(9))
    assert told(left) == [[7, 8, 9]]


def test_states_are_joined_and_taken_apart() -> None:
    caches = maker(LinearAttentionLayer, DynamicLayer)
    layers = []
    for value in (1, 2):
        layer = caches.new().layers[0]
        layer.conv_states[0] = array([[value, value]])
        layers.append(layer)
    joined = caches.joined([caches.row_of(layer, 0, 5) for layer in layers])
    assert joined.conv_states[0].tolist() == [[1, 1], [2, 2]]
    assert joined.recurrent_states == {0: None}
    left = caches.alone(caches.row_of(joined, 1, 5))
    joined.conv_states[0][:] = 0
    assert left.conv_states[0].tolist() == [[2, 2]]


def test_what_a_cache_can_do_is_told_by_its_layers() -> None:
    plain = maker(DynamicLayer, DynamicSlidingWindowLayer, DummyLayer)
    assert (plain.joinable, plain.croppable, plain.has_keys) == (True, True, True)
    assert [isinstance(layer, GrowingKeys) for layer in plain.new().layers] == [True, True, False]
    mixed = maker(LinearAttentionLayer, DynamicLayer)
    assert (mixed.joinable, mixed.croppable, mixed.has_keys) == (True, False, True)
    state = maker(LinearAttentionLayer)
    assert (state.joinable, state.croppable, state.has_keys) == (True, False, False)

    class Exotic(KINDS.DynamicLayer):  # type: ignore[name-defined]
        pass

    odd = maker(DynamicLayer, Exotic)
    assert (odd.joinable, odd.croppable) == (False, False)
    assert type(odd.new().layers[0]) is DynamicLayer
