"""`duologue avatar render`: the picture of a face from a running server becomes a clip in the server's data folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

import anyio
from msgspec import Struct

from duologue.cli.say import explained
from duologue.client.http import Client
from duologue.engines.wan import renderer
from duologue.engines.wan.clip_plan import PROMPT, ClipPlan
from duologue.errors import BadRequest

if TYPE_CHECKING:
    from duologue.config import Settings

Load = Callable[[dict[str, Any]], Awaitable[renderer.WanRenderer]]


class Order(Struct, frozen=True):
    """The id of a face, and the clip it gets. `loras`: whether those of the settings are used."""

    face: str
    seconds: float = 5.0
    prompt: str = ""
    seed: int = 0
    loras: bool = True


def render_clip(
    order: Order,
    chosen: dict[str, Any],
    settings: Settings,
    server: Client,
    output: TextIO,
    load: Load = renderer.load,
) -> None:
    """Render the clip, with a line on `output` for each step. `chosen`: options of the renderer that flags set. Raises Problem."""
    anyio.run(_render, order, renderer_options(chosen, settings, order), server, output, load)


def renderer_options(chosen: dict[str, Any], settings: Settings, order: Order) -> dict[str, Any]:
    """The options of the renderer: those that flags set, and what the settings say of folders, the device and LoRAs."""
    video = settings.video
    options: dict[str, Any] = {
        "models": str(settings.data / "models"),
        "cache": str(settings.data / "cache"),
        "device": video.device,
        "loras": [lora.model_dump() for lora in video.loras] if order.loras else [],
    }
    return options | {name: value for name, value in chosen.items() if value not in (None, "")}


async def _render(order: Order, options: dict[str, Any], server: Client, output: TextIO, load: Load) -> None:
    async with explained(server), server:
        face = await server.api("GET", f"/api/avatars/{quote(order.face, safe='')}")
        if face.get("kind") != "picture":
            raise BadRequest(
                f"{order.face} is no picture. Clips are rendered of pictures; drawn faces and figures move by themselves.",
                param="id",
            )
        picture = await server.avatar_file(order.face)
    print("Loading the model ...", file=output, flush=True)
    wan = await load(options)
    plan = ClipPlan(picture, order.seconds, order.prompt or PROMPT, seed=order.seed, loras=order.loras)
    key = ""
    async with wan.idle_clip(plan) as steps:
        async for step in steps:
            key = step.key
            if not key:
                print(f"Step {step.done} of {step.total}", file=output, flush=True)
    await wan.close()
    print(f"{order.face} idles in the clip {key} from now on.", file=output, flush=True)
