"""Texts made at random of each family's own grammar are read as calls: what a forced call may be, the parser understands."""

from __future__ import annotations

import json
import random

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.support.gbnf import made
from tests.support.tool_call_families import TOOLS, Family, read_reply
from tests.text.toolcalls.family_list import FAMILIES

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply
from duologue.text.toolcalls.catalogue import tool_format

EXAMPLES = 6
"""220 were tried once of each."""
SCHEMAS = {tool.name: Draft202012Validator(tool.parameters) for tool in TOOLS}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.format)
def test_whatever_the_grammar_admits_is_read_as_calls(family: Family) -> None:
    grammar = constrained_reply(AllowedToolCalls(family.format, TOOLS, several=family.several), None, None)
    assert grammar is not None

    opened = family.opened or tool_format(family.format).opening
    for seed in range(EXAMPLES):
        raw = made(grammar.text, random.Random(seed))
        reply = read_reply(family.format, raw, tags=family.tags, opened=opened, everywhere=False)
        assert (reply.reasoning, reply.content.strip(), reply.truncated) == ("", "", False), raw
        assert reply.tool_calls, raw
        for call in reply.tool_calls:
            SCHEMAS[call.name].validate(json.loads(call.arguments))
