"""What of the Ray cluster needs no Ray. The rest is tried on a real one: tests/engines_extra/test_ray.py."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.placement import ray_cluster
from duologue.placement.cluster import ClusterProblem
from duologue.placement.ray_cluster import RayCluster
from duologue.wire.machines.placement_protocol import ClusterOptions, Node, Resources

pytestmark = pytest.mark.anyio


async def test_without_ray_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    cluster = RayCluster(ClusterOptions("127.0.0.1:1"))
    with pytest.raises(ClusterProblem) as caught:
        await cluster.connect()
    assert caught.value.code == "ray_missing"
    assert "duologue[ray]" in caught.value.message
    cluster.close()


async def test_a_cluster_that_cannot_be_used_says_what_this_machine_must_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: RayCluster) -> None:
        raise ConnectionError("The address is wrong.\nA long story follows.")

    monkeypatch.setattr(RayCluster, "_connect", refuse)
    with pytest.raises(ClusterProblem) as caught:
        await RayCluster(ClusterOptions("10.0.0.5:6379")).connect()
    assert caught.value.code == "ray_unreachable"
    assert "The address is wrong." in caught.value.message
    assert "ray start --address=10.0.0.5:6379" in caught.value.message
    assert "long story" not in caught.value.message


def usage(name: str, total: float, used: float) -> Any:
    return SimpleNamespace(resource_name=name, total=total, used=used)


def test_a_node_is_told_with_what_is_free() -> None:
    amounts = [
        usage("CPU", 8, 3),
        usage("GPU", 2, 0.5),
        usage("memory", 64, 60),
        usage("accelerator_type:A100", 1, 0),
    ]
    info = SimpleNamespace(
        node_id="abc",
        ip_address="10.0.0.6",
        node_status="DRAINING",
        resource_usage=SimpleNamespace(usage=amounts),
    )
    node = ray_cluster._node(info)
    assert node == Node(
        "abc", "10.0.0.6", Resources(8, 2, 64), Resources(5, 1.5, 4), draining=True, cards="A100"
    )


def test_a_node_without_figures_has_nothing() -> None:
    info = SimpleNamespace(node_id="abc", ip_address="10.0.0.6", node_status="IDLE", resource_usage=None)
    assert ray_cluster._node(info) == Node("abc", "10.0.0.6", Resources(), Resources())


def test_a_loss_is_told_in_a_few_words() -> None:
    assert ray_cluster._loss(RuntimeError("The actor died because its node has died.")) == "its node was lost"
    assert "process" in ray_cluster._loss(RuntimeError("Socket closed"))
