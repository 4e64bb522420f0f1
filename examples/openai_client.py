"""Use the server with OpenAI's own Python client: a stream, its reasoning, and a tool that the model may call.

    pip install openai
    python examples/openai_client.py "What time is it in Oslo?"

The server is the one at http://127.0.0.1:8006, or the one named by DUOLOGUE_SERVER; DUOLOGUE_KEY is the key where it
needs one.
"""

import json
import os
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

from openai import APIError, OpenAI

SERVER = os.environ.get("DUOLOGUE_SERVER", "http://127.0.0.1:8006")
ROUNDS = 3
"""So often may the model call tools before it has to answer with what it knows."""
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
    """The result of a call. What is wrong with it is told to the model, which may then try again."""
    try:
        return get_time(**json.loads(arguments)) if name == "get_time" else f"There is no tool {name}."
    except (ValueError, TypeError) as error:
        return f"The call is wrong: {error}"


def turn(client: OpenAI, messages: list[dict], last: bool) -> dict:
    """One turn of the model, printed as it comes; the assistant's message."""
    # No model named: the server's default answers. An alias of the settings would do as well.
    with client.chat.completions.stream(
        model="", messages=messages, tools=TOOLS, tool_choice="none" if last else "auto"
    ) as stream:
        for event in stream:
            if event.type != "chunk" or not event.chunk.choices:
                continue
            delta = event.chunk.choices[0].delta
            if thought := getattr(delta, "reasoning_content", None):
                print(thought, end="", file=sys.stderr, flush=True)
            print(delta.content or "", end="", flush=True)
        message = stream.get_final_completion().choices[0].message
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in message.tool_calls or ()
    ]
    return {"role": "assistant", "content": message.content} | ({"tool_calls": calls} if calls else {})


def main() -> None:
    client = OpenAI(base_url=f"{SERVER}/v1", api_key=os.environ.get("DUOLOGUE_KEY", "none is needed"))
    messages: list[dict] = [{"role": "user", "content": " ".join(sys.argv[1:]) or "What time is it in Oslo?"}]
    for round in range(ROUNDS + 1):
        messages.append(turn(client, messages, last=round == ROUNDS))
        calls = messages[-1].get("tool_calls", [])
        for call in calls:
            result = run(**call["function"])
            print(f"[{call['function']['name']} {call['function']['arguments']} -> {result}]")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if not calls:
            break
    print()


if __name__ == "__main__":
    try:
        main()
    except APIError as error:
        sys.exit(f"{error.code}: {error.message}")
