"""Use the server with OpenAI's own Python client: streaming, reasoning, and a tool the model may call.

    pip install openai
    python examples/openai_client.py "What time is it in Oslo?"

DUOLOGUE_SERVER is the server's address (default: http://127.0.0.1:8006), DUOLOGUE_KEY its key, if it needs one.
"""

import json
import os
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

from openai import APIError, OpenAI

SERVER = os.environ.get("DUOLOGUE_SERVER", "http://127.0.0.1:8006")
ROUNDS = 3
"""How many rounds of tool calls the model may make before it has to answer."""
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_time",
            "description": "Tells the current time of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "For example Oslo."}},
                "required": ["city"],
            },
        },
    }
]
ZONES = {
    "oslo": "Europe/Oslo",
    "paris": "Europe/Paris",
    "tokyo": "Asia/Tokyo",
    "new york": "America/New_York",
}


def get_time(city: str) -> str:
    zone = ZONES.get(city.lower())
    return f"{datetime.now(ZoneInfo(zone)):%H:%M}" if zone else f"I do not know where {city} is."


def run(name: str, arguments: str) -> str:
    """The result of a tool call. Errors are returned as text, so that the model can correct its call."""
    try:
        return get_time(**json.loads(arguments)) if name == "get_time" else f"There is no tool {name}."
    except (ValueError, TypeError) as error:
        return f"Invalid call: {error}"


def turn(client: OpenAI, messages: list[dict], last: bool) -> dict:
    """Print one turn of the model as it arrives and return the assistant message."""
    # Without a model name the server's default model answers. An alias from the settings works too.
    with client.chat.completions.stream(
        model="", messages=messages, tools=TOOLS, tool_choice="none" if last else "auto"
    ) as stream:
        for event in stream:
            if event.type != "chunk" or not event.chunk.choices:
                continue
            delta = event.chunk.choices[0].delta
            if reasoning := getattr(delta, "reasoning_content", None):
                print(reasoning, end="", file=sys.stderr, flush=True)
            print(delta.content or "", end="", flush=True)
        message = stream.get_final_completion().choices[0].message
    tool_calls = [
        {
            "id": tool_call.id,
            "type": "function",
            "function": {"name": tool_call.function.name, "arguments": tool_call.function.arguments},
        }
        for tool_call in message.tool_calls or ()
    ]
    return {"role": "assistant", "content": message.content} | (
        {"tool_calls": tool_calls} if tool_calls else {}
    )


def main() -> None:
    client = OpenAI(base_url=f"{SERVER}/v1", api_key=os.environ.get("DUOLOGUE_KEY", "no key needed"))
    messages: list[dict] = [{"role": "user", "content": " ".join(sys.argv[1:]) or "What time is it in Oslo?"}]
    for round in range(ROUNDS + 1):
        messages.append(turn(client, messages, last=round == ROUNDS))
        tool_calls = messages[-1].get("tool_calls", [])
        for tool_call in tool_calls:
            function = tool_call["function"]
            result = run(**function)
            print(f"[{function['name']} {function['arguments']} -> {result}]")
            messages.append({"role": "tool", "tool_call_id": tool_call["id"], "content": result})
        if not tool_calls:
            break
    print()


if __name__ == "__main__":
    try:
        main()
    except APIError as error:
        sys.exit(f"{error.code}: {error.message}")
