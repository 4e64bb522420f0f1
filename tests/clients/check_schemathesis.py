"""Schemathesis against the API's description: whatever it allows is answered as it says, and nothing is a server error.

Streams that do not end are left out, and operations that would take the server away from those that follow. Rules that a schema
cannot say make some requests that it allows wrong; the fields with such rules are named below, and `schemathesis_hooks` keeps the
commonest of them.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from features import URL, feature, run

LEFT_OUT = (
    "events|models/sse|/mcp|downloads|/ca.crt|packs|unload|workers|model/load|/api/keys|/api/session|remembered"
    # A connected server that does not exist would answer for the models from then on.
    "|/api/upstreams$|/api/upstreams/\\{name\\}"
)
A_REFERENCE = "names something that has to exist"
A_FILE = "is a file of a kind that can be read"
A_LANGUAGE = "is in a language of its own: a schema, names of samplers"
A_CONSENT = "is the consent of a person; some words for no are none, and a figure needs none"
A_STATE = "needs a state that most conversations are not in"
TOGETHER = "belongs to another field, or excludes it"
A_SETTING = "has a limit that is a setting"
SHOWN = "has something that a model can be shown"
TOKENS = "are tokens of this model"
NEVER = "is refused: nothing here does that"
ENGINE = "scripted"
"""The engine of this server. What it cannot do is refused with its name; the tests of the other engines have requests for that."""
CHAT = {
    "messages.audio.id": A_REFERENCE,
    "messages.content": A_FILE,
    "continue_final_message": TOGETHER,
    "top_logprobs": TOGETHER,
}
COMPLETION = {"prompt": TOKENS, "json_schema": A_LANGUAGE, "guided_json": A_LANGUAGE}
MESSAGES = {"messages": SHOWN, "tools.input_schema": "has no whole numbers beyond 64 bits"}
RESPONSE = {
    "previous_response_id": TOGETHER,
    "text.format.schema": A_LANGUAGE,
    "guided_json": A_LANGUAGE,
    "json_schema": A_LANGUAGE,
    "input.id": A_REFERENCE,
}
RULES: dict[str, dict[str, str]] = {
    "DELETE /api/permissions": {"server": TOGETHER},
    "PATCH /api/uploads/{id}": {"too_large": "ends where the upload ends, as it was announced"},
    "POST /api/assets/ref_audio": {"sound_unsupported": A_FILE, "consent": A_CONSENT},
    "POST /api/avatars": {"consent": A_CONSENT, "avatar_unsupported": A_FILE},
    "POST /api/conversations": {"id_taken": A_REFERENCE, "folder": A_REFERENCE},
    "POST /api/conversations/{id}/compact": {"nothing_said": A_STATE, "nothing_to_compact": A_STATE},
    "POST /api/conversations/{id}/title": {"nothing_said": A_STATE},
    "POST /api/import": {"import_unknown": A_FILE},
    "POST /api/pictures": {"unknown_host": A_REFERENCE},
    "POST /api/uploads": {"too_large": A_SETTING},
    "POST /apply-template": CHAT | COMPLETION,
    "POST /completion": COMPLETION,
    "POST /completions": COMPLETION,
    "POST /infill": COMPLETION,
    "POST /detokenize": {"tokens": TOKENS},
    "POST /lora-adapters": {"id": A_REFERENCE},
    "POST /v1/audio/transcriptions": {
        "sound_unsupported": A_FILE,
        "file": A_FILE,
        "timestamp_granularities": TOGETHER,
        "language": "is one that the recogniser knows",
    },
    "POST /v1/audio/translations": {"unsupported": NEVER},
    "POST /v1/batches": {"input_file_id": A_REFERENCE},
    "POST /v1/chat/completions": CHAT | COMPLETION,
    "POST /v1/chat/completions/input_tokens": CHAT | COMPLETION,
    "POST /v1/completions": COMPLETION | {"best_of": TOGETHER, "echo": TOGETHER},
    "POST /v1/conversations": {"items.id": A_REFERENCE},
    "POST /v1/conversations/{id}/items": {"items.id": A_REFERENCE},
    "POST /v1/messages": MESSAGES,
    "POST /v1/messages/count_tokens": MESSAGES,
    "POST /v1/moderations": {"unsupported": NEVER},
    "POST /v1/parse": {"format": "is the name of a format"},
    "POST /v1/responses": RESPONSE,
    "POST /v1/responses/input_tokens": RESPONSE,
    "POST /v1/sampling/override/switch": {"preset": A_LANGUAGE},
    "POST /v1/score": {"text_1": TOGETHER},
    "POST /v1/token/decode": {"tokens": TOKENS},
    "PUT /api/avatars/{id}": {"landmarks": "are those of a face"},
    "PUT /api/folders/{id}": {"parent": A_REFERENCE},
}
"""Operation -> its fields, or codes of errors, with a rule that a schema cannot say -> the rule. A refusal of anything else fails."""
STREAMS = "ST108"
"""Left out: the schema of a stream is here that of the JSON in its events, as generators of clients read it, and schemathesis takes it
for that of the events."""
CODES = {
    "ST101": "no server error",
    "ST103": "documented statuses alone",
    "ST104": "media types are said",
    "ST105": "media types as described",
    "ST107": "answers as their schemas",
    "ST109": "answers in JSON where they say so",
    "ST106": "headers as described",
    "ST110": "Allow names the methods",
    "ST202": "requests that the description allows are taken",
}


class Tested:
    """What a run found, from its report of each request with its answer.

    With $REPORT, a file, that report is kept; one that is there already is read, and nothing is run.
    """

    def __init__(self) -> None:
        self.selected, self.tried = 0, set[str]()
        self.failures: dict[str, set[str]] = {}
        """Code of a failure -> the operations."""
        self.titles: dict[str, str] = {}
        self.refused: set[str] = set()
        """What was refused, though the description allows it, and no rule says it: operation and sentence."""
        with tempfile.TemporaryDirectory() as made:
            report = Path(os.environ.get("REPORT") or Path(made) / "report.ndjson")
            if not report.exists():
                run_schemathesis(report)
            with report.open() as lines:
                for line in lines:
                    self._read(json.loads(line))

    def _read(self, event: dict[str, Any]) -> None:
        if "LoadingFinished" in event:
            self.selected = event["LoadingFinished"]["statistic"]["operations"]["selected"]
        if "ScenarioFinished" not in event:
            return
        recorder = event["ScenarioFinished"]["recorder"]
        operation, interactions = recorder["label"], recorder.get("interactions", {})
        self.tried.add(operation)
        for case, checks in recorder.get("checks", {}).items():
            for check in checks:
                if check["status"] == "failure":
                    failure = check["failure_info"]["failure"]
                    self.failures.setdefault(failure["code"], set()).add(operation)
                    self.titles[failure["code"]] = failure["title"]
                    if check["name"] == "positive_data_acceptance":
                        self._refusal(operation, error_of(interactions[case]["response"]))

    def _refusal(self, operation: str, error: dict[str, Any]) -> None:
        if not is_known(operation, error):
            self.refused.add(f"{operation}: {error.get('message', 'refused')}"[:200])


def run_schemathesis(report: Path) -> None:
    """Write the report."""
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{URL}/openapi.json"),
        *("--max-examples", os.environ.get("EXAMPLES", "4"), "--phases", "coverage,fuzzing"),
        *("--exclude-checks", "negative_data_rejection", "--exclude-path-regex", LEFT_OUT),
        *("--request-timeout", "20", "--workers", "2", "--no-color", "--no-shrink", "--continue-on-failure"),
        *("--generation-deterministic", "--report", "ndjson", "--report-ndjson-path", str(report)),
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(Path(__file__).parent)}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, stdout=sys.stderr, check=False, cwd=folder, env=os.environ | hooks)


def error_of(answer: dict[str, Any]) -> dict[str, Any]:
    try:
        error: dict[str, Any] = json.loads(base64.b64decode(answer["content"]["$base64"]))["error"]
    except (KeyError, TypeError, ValueError):
        return {}
    return error


def is_known(operation: str, error: dict[str, Any]) -> bool:
    """Whether one of RULES says this. The place of a field in a list does not matter, nor what is inside of it."""
    if ENGINE in error.get("message", ""):
        return True
    field = re.sub(r"\[\d+\]", "", error.get("param") or "")
    rules = RULES.get(operation, {})
    return error.get("code") in rules or any(field == name or field.startswith(f"{name}.") for name in rules)


tested = Tested()
unknown = tested.failures.keys() - CODES.keys() - {STREAMS}
for code, sentence in (CODES | {code: tested.titles[code] for code in sorted(unknown)}).items():

    @feature(sentence)
    def _(code: str = code) -> None:
        found = tested.refused if code == "ST202" else tested.failures.get(code, set())
        assert not found, "; ".join(sorted(found))


@feature("every operation is tried")
def _() -> None:
    assert len(tested.tried) == tested.selected > 100, (len(tested.tried), tested.selected)


if __name__ == "__main__":
    run("schemathesis", version("schemathesis"))
