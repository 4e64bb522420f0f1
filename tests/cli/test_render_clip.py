"""`duologue avatar render`: a picture goes to the renderer, its steps to the terminal."""

import io
from contextlib import asynccontextmanager

import pytest

from duologue.cli.render_clip import Order, render_clip, renderer_options
from duologue.client.http import Client
from duologue.config import load
from duologue.engines.wan.clip_plan import PROMPT
from duologue.engines.wan.renderer import RenderStep
from duologue.errors import BadRequest


class Server(Client):
    kind = "picture"

    async def api(self, method, path, body=None):
        assert (method, path) == ("GET", "/api/avatars/mine")
        return {"id": "mine", "kind": self.kind}

    async def avatar_file(self, id):
        return b"picture of " + id.encode()


class Renderer:
    def __init__(self):
        self.plans = []
        self.closed = False

    @asynccontextmanager
    async def idle_clip(self, plan):
        self.plans.append(plan)

        async def steps():
            yield RenderStep(1, 2)
            yield RenderStep(2, 2)
            yield RenderStep(2, 2, "abc")

        yield steps()

    async def close(self):
        self.closed = True


@pytest.fixture
def settings(tmp_path):
    return load(None, {"DUOLOGUE_VIDEO__DEVICE": "cuda:1"}, {"data": tmp_path})


def test_the_picture_of_a_face_is_rendered_step_by_step(settings):
    output, renderer, asked = io.StringIO(), Renderer(), []

    async def load_renderer(options):
        asked.append(options)
        return renderer

    render_clip(Order("mine", 2.0, seed=4), {"steps": 2}, settings, Server(), output, load_renderer)
    (plan,) = renderer.plans
    assert (plan.picture, plan.seconds, plan.prompt, plan.seed) == (b"picture of mine", 2.0, PROMPT, 4)
    assert asked[0]["steps"] == 2
    assert renderer.closed
    assert output.getvalue().splitlines() == [
        "Loading the model ...",
        "Step 1 of 2",
        "Step 2 of 2",
        "mine idles in the clip abc from now on.",
    ]


def test_a_drawn_face_is_refused_before_a_model_is_loaded(settings):
    server = Server()
    server.kind = "drawn"
    with pytest.raises(BadRequest, match="mine is no picture"):
        render_clip(Order("mine"), {}, settings, server, io.StringIO())


def test_flags_and_settings_become_options(settings, tmp_path):
    options = renderer_options({"model": "", "gguf": None, "offload": False}, settings, Order("mine"))
    assert options == {
        "models": str(tmp_path / "models"),
        "cache": str(tmp_path / "cache"),
        "device": "cuda:1",
        "loras": [],
        "offload": False,
    }
