"""A picture in a chat of the page with a GGUF model that sees: a tiny random one, with a projector beside it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import picture, write_projector

pytestmark = pytest.mark.browser


@pytest.fixture
def seer(serve, tmp_path: Path):
    write_tiny_model(tmp_path / "seer.gguf", TinyModel(context=1024))
    write_projector(tmp_path / "mmproj-seer.gguf")
    return serve("--model", str(tmp_path / "seer.gguf"), "--context", "512").ready()


def test_a_picture_that_is_attached_reaches_the_model(seer, visit) -> None:
    tab = visit(on=seer).open()
    tab.page.locator("input[type=file]").first.set_input_files(
        {"name": "cat.png", "mimeType": "image/png", "buffer": picture(1).data}
    )
    expect(tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")).to_have_count(1)
    tab.told("What is it?")
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    (conversation,) = httpx.get(f"{seer.url}/api/conversations", timeout=60).json()["conversations"]
    rows = httpx.get(f"{seer.url}/api/conversations/{conversation['id']}", timeout=60).json()["messages"]
    (answer,) = (row for row in rows if row["role"] == "assistant")
    assert answer["usage"]["input"] > 34 + 30, "the picture takes tokens of the prompt"
