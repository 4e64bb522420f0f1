"""Scenes with unseen tools: every call fits its schema, and its values can be found in the chat."""

import json
import re
from collections import Counter
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from duologue_mini.scene import Scene, ToolUse
from duologue_mini.skills import unseen_tools
from duologue_mini.text.typos import add_typos
from duologue_mini.text.words import number_in_words


def drawn(seed: int, count: int) -> list[Scene]:
    random = Random(seed)
    return [unseen_tools.draw(random) for _ in range(count)]


SCENES = [*drawn(1, 1400), *(unseen_tools.draw_few(one) for one in [Random(2)] * 300)]


def functions(scene: Scene) -> dict[str, dict[str, Any]]:
    definitions = [tool.get("function", tool) for tool in scene.tools]
    return {one["name"]: one.get("parameters", one.get("inputSchema")) for one in definitions}


def uses(scene: Scene) -> list[ToolUse]:
    return [use for turn in scene.turns for together in turn.rounds for use in together]


def fits(value: Any, schema: dict[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    if "enum" in schema and value not in schema["enum"]:
        return False
    kind = schema.get("type")
    if kind == "object":
        inner = schema.get("properties", {})
        return (
            isinstance(value, dict)
            and set(schema.get("required", [])) <= set(value) <= set(inner)
            and all(fits(value[key], inner[key]) for key in value)
        )
    if kind == "array":
        return isinstance(value, list) and bool(value) and all(fits(one, schema["items"]) for one in value)
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    if kind in ("integer", "number") and isinstance(value, bool):
        return False
    return kind is None or isinstance(value, kinds[kind])


def test_every_call_is_to_a_listed_tool_and_fits_its_schema() -> None:
    names = 0
    for scene in SCENES:
        known = functions(scene)
        assert len(known) == len(scene.tools), "two tools of one name"
        for use in uses(scene):
            names += 1
            assert use.name in known
            assert fits(use.arguments, known[use.name]), (use, known[use.name])
            assert use.thought
    assert names > 1000


def test_arguments_come_in_the_order_of_the_schema() -> None:
    for scene in SCENES:
        known = functions(scene)
        for use in uses(scene):
            order = [key for key in known[use.name]["properties"] if key in use.arguments]
            assert list(use.arguments) == order


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


def is_tomorrow(text: str, seen: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return False
    return str(date.fromisoformat(text) - timedelta(days=1)) in seen


def test_every_string_of_a_call_is_in_the_chat_or_in_an_enum() -> None:
    for scene in SCENES:
        known = functions(scene)
        seen = ""
        for turn in scene.turns:
            seen += turn.user[:1].lower() + turn.user[1:] + "\n"
            for together in turn.rounds:
                results, results_so_far = "", seen
                for use in together:
                    for key, value in use.arguments.items():
                        schema = known[use.name]["properties"][key]
                        if "enum" in json.dumps(schema):
                            continue
                        for text in strings(value):
                            if is_tomorrow(text, results_so_far):
                                continue
                            where = seen.replace('\\"', '"').replace("\\\\", "\\")
                            assert text in where or json.dumps(text)[1:-1] in seen, (text, seen)
                    results += use.result + "\n"
                seen += results
            seen += turn.assistant + "\n"


def test_every_number_of_a_call_is_in_the_chat() -> None:
    for scene in SCENES:
        seen = ""
        for turn in scene.turns:
            seen += turn.user + "\n"
            for together in turn.rounds:
                for use in together:
                    for value in use.arguments.values():
                        if isinstance(value, (int, float)) and not isinstance(value, bool):
                            word = (
                                number_in_words(value) if isinstance(value, int) and 0 <= value <= 60 else "?"
                            )
                            assert str(value) in seen or word in seen.lower(), (value, seen)
                seen += "\n".join(use.result for use in together)


def test_numbers_in_an_answer_are_in_the_chat() -> None:
    for scene in SCENES:
        seen = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in scene.tools)
        for turn in scene.turns:
            seen += turn.user + "\n"
            seen += "\n".join(f"{use.arguments} {use.result}" for together in turn.rounds for use in together)
            if turn.rounds:
                counts = {str(number) for number in range(8)}
                for figure in re.findall(r"\d{2,}", turn.assistant):
                    assert figure in seen or figure in counts, (figure, turn.assistant, seen[-500:])
            seen += turn.assistant


def test_users_words_are_exact_where_a_tool_is_called() -> None:
    for scene in SCENES:
        for turn in scene.turns:
            if turn.rounds:
                assert turn.exact
                assert add_typos(Random(0), turn.user, exact=True)[1:] == turn.user[1:]


def test_texts_are_clean() -> None:
    for scene in SCENES:
        for turn in scene.turns:
            assert turn.user
            assert turn.assistant
            assert turn.user == turn.user.strip()
            for text in (turn.assistant, turn.thought, *(use.thought for use in uses(scene))):
                assert not re.search(r"\$[A-Za-z]", text) or "$" in turn.user, text
            assert not re.search(r"\$[A-Za-z]+", turn.user), turn.user


def test_there_are_all_kinds_of_scenes() -> None:
    calls = [len(uses(scene)) for scene in SCENES]
    assert sum(count == 0 for count in calls) > 200
    assert sum(len(turn.rounds) == 2 for scene in SCENES for turn in scene.turns) > 60
    assert (
        sum(len(together) > 1 for scene in SCENES for turn in scene.turns for together in turn.rounds) > 100
    )
    assert max(len(scene.tools) for scene in SCENES) == 16
    assert min(len(scene.tools) for scene in SCENES) == 1


def test_requests_and_names_are_varied() -> None:
    questions = Counter(turn.user for scene in SCENES for turn in scene.turns if turn.rounds)
    assert questions.most_common(1)[0][1] <= 25
    names = Counter(name for scene in SCENES for name in functions(scene))
    assert len(names) > 4000


def test_the_same_seed_draws_the_same() -> None:
    assert drawn(7, 30) == drawn(7, 30)


@pytest.mark.parametrize("seed", range(3))
def test_prompts_stay_within_the_context(seed: int) -> None:
    for scene in drawn(seed + 50, 300):
        assert len(json.dumps(scene.tools, ensure_ascii=False)) < 9000
