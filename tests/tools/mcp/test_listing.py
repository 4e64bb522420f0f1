import mcp_types as types

from duologue.tools.mcp.listing import (
    ADDRESS,
    ARGUMENTS,
    DESCRIPTION,
    ENTRIES,
    NAME,
    SCHEMA_BYTES,
    TITLE,
    ListingReader,
)

LONG = "x" * 100_000
SCHEMA = {"type": "object"}


def tool(name="t", **fields):
    return types.Tool.model_validate({"name": name, "inputSchema": SCHEMA} | fields)


def test_words_are_cut_and_what_fits_is_kept():
    reader = ListingReader()
    hints = {"readOnlyHint": True, "title": "From the hints"}
    (read,) = reader.tools([tool(description="Reads.", annotations=hints)])
    assert (read.description, read.title, read.read_only, read.schema) == (
        "Reads.",
        "From the hints",
        True,
        SCHEMA,
    )
    (cut,) = reader.tools([tool(description=LONG, title=LONG)])
    assert (len(cut.description), len(cut.title)) == (DESCRIPTION, TITLE)
    assert reader.left_out == 0


def test_names_that_are_empty_too_long_or_taken_are_left_out():
    reader = ListingReader()
    named = [tool("a"), tool(""), tool("x" * (NAME + 1)), tool("a", description="another")]
    assert [(read.name, read.description) for read in reader.tools(named)] == [("a", "")]
    assert reader.left_out == 3


def test_only_so_many_entries_are_read():
    reader = ListingReader()
    assert len(reader.tools([tool(str(number)) for number in range(ENTRIES + 7)])) == ENTRIES
    assert reader.left_out == 7


def test_schemas_are_bounded_one_by_one_and_together():
    reader = ListingReader()
    large = SCHEMA | {"description": "x" * SCHEMA_BYTES}
    assert reader.tools([tool(inputSchema=large)]) == ()
    half = SCHEMA | {"description": "x" * (SCHEMA_BYTES - 100)}
    assert 30 <= len(reader.tools([tool(str(number), inputSchema=half) for number in range(100)])) <= 33


def test_resources_templates_and_prompts_are_cut_as_well():
    reader = ListingReader()
    assert reader.resources([types.Resource(uri="a:" + "b" * ADDRESS, name="n")]) == ()
    (resource,) = reader.resources([types.Resource(uri="a:b", name=LONG, description=LONG, mime_type=LONG)])
    assert max(map(len, (resource.name, resource.description, resource.mime))) == DESCRIPTION
    (template,) = reader.templates([types.ResourceTemplate(uri_template="a:{b}", name=LONG, title=LONG)])
    assert max(map(len, (template.name, template.title))) == TITLE
    arguments = [types.PromptArgument(name=LONG, description=LONG)] * (ARGUMENTS + 1)
    (prompt,) = reader.prompts([types.Prompt(name="p", description=LONG, arguments=arguments)])
    assert len(prompt.arguments) == ARGUMENTS
    assert len(prompt.arguments[0].name) == NAME
