"""How a server writes its tools: case of names, prefixes, descriptions, flavour of JSON Schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from duologue_mini.text import payloads

TITLES = ["title", "arguments", "Arguments", "Input", "Params", "Args"]
SCHEMAS = [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
]


@dataclass(frozen=True)
class ServerStyle:
    """`joint` is how words are joined into names; `description_share` is the share of parameters with a description."""

    joint: str
    prefix: str
    description_share: float
    flavour: str

    def key(self, key: str) -> str:
        """A parameter's name, from words with underscores."""
        if self.joint in ("camel", "pascal"):
            first, *rest = key.split("_")
            return first + "".join(word.capitalize() for word in rest)
        return key.replace("_", "-") if self.flavour == "dashed" else key

    def name(self, words: str) -> str:
        """A tool's name, from words with spaces."""
        parts = words.split()
        if self.joint == "camel":
            full_name = parts[0] + "".join(word.capitalize() for word in parts[1:])
        elif self.joint == "pascal":
            full_name = "".join(word.capitalize() for word in parts)
        elif self.joint == "noun.verb" and len(parts) > 1:
            full_name = "_".join(parts[1:]) + "." + parts[0]
        else:
            full_name = {"kebab": "-", "dot": ".", "upper": "_"}.get(self.joint, "_").join(parts)
            full_name = full_name.upper() if self.joint == "upper" else full_name
        return self.prefix + full_name


def draw_style(random: Random, domain: str, crowded: bool) -> ServerStyle:
    """The style of a server for tools of this domain; with many tools in a chat it describes less."""
    joint = random.choices(
        ["snake", "camel", "kebab", "dot", "noun.verb", "pascal", "upper"], [52, 16, 14, 3, 5, 4, 2]
    )[0]
    description_share = random.choice([0.0, 0.15, 0.5] if crowded else [0.0, 0.5, 0.9, 1.0, 1.0])
    flavours = ["plain", "titled", "closed", "schema", "dashed"]
    flavour = random.choices(flavours, [7, 1, 1.5, 0.5, 0.3] if crowded else [6, 2.5, 2, 1.5, 0.4])[0]
    return ServerStyle(
        joint, _prefix(random, domain) if random.random() < 0.3 else "", description_share, flavour
    )


def _prefix(random: Random, domain: str) -> str:
    """The server's name as a prefix of each tool's, as clients of several servers write it."""
    name = domain if random.random() < 0.6 else payloads.coin_word(random)
    if random.random() < 0.15:
        name += random.choice(["-server", "-mcp", "_mcp", "-tools"])
    return random.choice(["mcp__{}__", "{}__", "{}_", "{}-", "{}.", "{}:", "mcp_{}_"]).format(name)


def definition(
    random: Random,
    server: ServerStyle,
    name: str,
    description: str,
    inputs: Sequence[tuple[str, bool, dict[str, Any]]],
) -> dict[str, Any]:
    """The tool as a function: name, description, JSON Schema of (key, required, schema)."""
    properties = {key: schema for key, _, schema in inputs}
    required_keys = [key for key, required, _ in inputs if required]
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required_keys or random.random() < 0.3:
        parameters["required"] = required_keys
    if server.flavour == "titled":
        parameters = {
            name: parameters[name] for name in ("properties", "required", "type") if name in parameters
        }
        parameters["title"] = name + random.choice(TITLES[1:])
    elif server.flavour == "closed":
        parameters["additionalProperties"] = False
    elif server.flavour == "schema":
        parameters["additionalProperties"] = False
        parameters["$schema"] = random.choice(SCHEMAS)
    function: dict[str, Any] = {"name": name, "description": description, "parameters": parameters}
    if not description and random.random() < 0.5:
        del function["description"]
    return function


def wrap(function: dict[str, Any], form: str) -> dict[str, Any]:
    """The function as an entry of a tool list: OpenAI's format, bare, or MCP's."""
    if form == "openai":
        return {"type": "function", "function": function}
    if form == "mcp":
        return {name if name != "parameters" else "inputSchema": part for name, part in function.items()}
    return function
