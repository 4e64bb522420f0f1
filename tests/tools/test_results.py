import base64

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextResourceContents,
)
from mcp_types import TextContent as Said
from tests.tools.fakes import Person

from duologue.errors import TooLarge
from duologue.tools.results import BLOCKS, TEXT, convert_result, truncate
from duologue.values.conversations import ResourceContent, TextContent

pytestmark = pytest.mark.anyio
DATA = base64.b64encode(b"bytes").decode()


async def content(*blocks, person=None, **fields):
    person = person or Person()
    return await convert_result(CallToolResult(content=list(blocks), **fields), "s", person.keep)


async def test_text_stays_text():
    result = await content(Said(type="text", text="hello"))
    assert result.content == (TextContent("hello"),)
    assert not result.failed


async def test_an_error_of_the_tool_is_a_failed_outcome():
    assert (await content(Said(type="text", text="no"), is_error=True)).failed
    assert "gave no reason" in (await content(is_error=True)).content[0].text


async def test_pictures_and_sound_are_kept_as_files():
    person = Person()
    await content(
        ImageContent(type="image", data=DATA, mime_type="image/png"),
        AudioContent(type="audio", data=DATA, mime_type="audio/wav"),
        person=person,
    )
    assert [(data, mime) for data, _, mime in person.files] == [
        (b"bytes", "image/png"),
        (b"bytes", "audio/wav"),
    ]
    assert person.files[0][1] == "image.png"


async def test_a_file_that_came_damaged_or_is_too_large_is_a_note():
    class Full(Person):
        async def keep(self, data, name, mime):
            raise TooLarge("Too large.")

    block = ImageContent(type="image", data="%%%", mime_type="image/png")
    assert "not valid base64" in (await content(block)).content[0].text
    block = ImageContent(type="image", data=DATA, mime_type="image/png")
    assert "Too large." in (await content(block, person=Full())).content[0].text


async def test_embedded_resources_are_text_or_files():
    result = await content(
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="a://b/notes.md", text="hi", mime_type="text/markdown"),
        ),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(uri="a://b/x.bin", blob=DATA, mime_type="application/x"),
        ),
    )
    assert result.content[0] == ResourceContent("s", "a://b/notes.md", "notes.md", "text/markdown", "hi")
    assert result.content[1].blob == "0" * 64


async def test_links_to_resources_tell_where_they_lead():
    result = await content(
        ResourceLink(type="resource_link", uri="a://b", name="b", description="what it is")
    )
    assert result.content == (TextContent("[Resource b: a://b, what it is]"),)


async def test_structured_content_stands_where_there_is_no_other():
    assert (await content(structured_content={"a": 1})).content == (TextContent('{"a": 1}'),)
    both = await content(Said(type="text", text="one"), structured_content={"a": 1})
    assert both.content == (TextContent("one"),)


async def test_nothing_at_all_says_so():
    assert (await content()).content == (TextContent("(no output)"),)


async def test_text_without_measure_is_cut_over_all_parts_together():
    block = Said(type="text", text="x" * TEXT)
    result = await content(block, block)
    assert sum(len(part.text) for part in result.content) < TEXT + 200
    assert "omitted" in result.content[1].text


async def test_parts_without_number_are_counted():
    result = await content(*[Said(type="text", text="x")] * (BLOCKS + 5))
    assert "5 more parts" in result.content[-1].text


def test_a_cut_says_how_much_is_missing():
    assert truncate("abcdef", 4) == "abcd\n[Truncated: 2 of 6 characters omitted.]"
    assert truncate("abcd", 4) == "abcd"
