"""Schemathesis against the API's description: whatever it allows is answered as it says, and nothing is a server error.

Streams that do not end are left out, and operations that would take the server away from those that follow. Rules that a schema
cannot say make some requests that it allows wrong; those operations are named below, with the rule.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from features import URL, feature, run

LEFT_OUT = (
    "events|/mcp|downloads|/ca.crt|packs|unload|workers|model/load|/api/keys|/api/session|remembered"
    # A connected server that does not exist would answer for the models from then on.
    "|/api/upstreams$|/api/upstreams/\\{name\\}"
)
A_REFERENCE = "names something that has to exist"
A_FILE = "wants a file of a kind that can be read"
A_FORMAT = "has a grammar, a pattern, a schema or a name of a sampler, each with rules of its own"
A_MODEL = "wants a model for this task; the scripted one is for chats"
ONE_OF = "wants one of two fields"
STATE = "wants a state that most conversations are not in"
RULES = {
    "GET /v1/responses/{id}": "`starting_after` belongs to a stream",
    "DELETE /api/permissions": "a tool is named with its server",
    "GET /api/conversations": "`before` is what another page gave",
    "GET /v1/files": "`purpose` is one of five, or nothing",
    "PATCH /api/conversations/{id}": A_REFERENCE,
    "PATCH /api/conversations/{id}/pending/{pending}": A_FORMAT,
    "PATCH /api/settings": A_FORMAT,
    "PATCH /api/uploads/{id}": "a piece begins where the last one ended",
    "POST /api/approvals/{id}": ONE_OF,
    "POST /api/assets/ref_audio": A_FILE,
    "POST /api/avatars": A_FILE,
    "POST /api/conversations": A_REFERENCE,
    "POST /api/conversations/{id}/compact": STATE,
    "POST /api/conversations/{id}/runs": "a message has content",
    "POST /api/conversations/{id}/title": STATE,
    "POST /api/import": A_FILE,
    "POST /api/pictures": "an address with its protocol",
    "POST /api/uploads": "the size is below the setting limits.blob_mb",
    "POST /api/upstreams/test": "an address with its protocol",
    "POST /apply-template": A_FORMAT,
    "POST /completion": A_FORMAT,
    "POST /completions": A_FORMAT,
    "POST /detokenize": "token ids of this model",
    "POST /embedding": A_MODEL,
    "POST /embeddings": A_MODEL,
    "POST /infill": A_FORMAT,
    "POST /lora-adapters": A_REFERENCE,
    "POST /rerank": A_MODEL,
    "POST /reranking": A_MODEL,
    "POST /score": A_MODEL,
    "POST /tokenize": ONE_OF,
    "POST /v1/audio/speech": "text that can be spoken",
    "POST /v1/audio/transcriptions": A_FILE,
    "POST /v1/audio/translations": "is refused: no recogniser here translates",
    "POST /v1/batches": A_REFERENCE,
    "POST /v1/chat/completions": A_FORMAT,
    "POST /v1/chat/completions/control": A_REFERENCE,
    "POST /v1/completions": A_FORMAT,
    "POST /v1/conversations": "items in OpenAI's shapes",
    "POST /v1/conversations/{id}/items": "items in OpenAI's shapes",
    "POST /v1/embeddings": A_MODEL,
    "POST /v1/files": A_FILE,
    "POST /v1/lora/load": A_MODEL,
    "POST /v1/messages": "the messages have content",
    "POST /v1/messages/count_tokens": "the messages have content",
    "POST /v1/moderations": "is refused: no model here judges texts",
    "POST /v1/parse": "the name of a format",
    "POST /v1/rerank": A_MODEL,
    "POST /v1/responses": A_FORMAT,
    "POST /v1/responses/input_tokens": A_FORMAT,
    "POST /v1/sampling/override/switch": ONE_OF,
    "POST /v1/score": A_MODEL,
    "POST /v1/token/decode": "token ids of this model",
    "POST /v1/token/encode": A_FORMAT,
    "POST /v2/rerank": A_MODEL,
    "PUT /api/avatars/{id}": "landmarks of a face",
    "PUT /api/folders/{id}": "a folder is not in itself",
}
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


def tested() -> dict[str, Any]:
    """The report of a run."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{URL}/openapi.json"),
            *("--max-examples", os.environ.get("EXAMPLES", "4"), "--phases", "coverage,fuzzing"),
            *("--exclude-checks", "negative_data_rejection", "--exclude-path-regex", LEFT_OUT),
            *(
                "--request-timeout",
                "20",
                "--workers",
                "2",
                "--no-color",
                "--no-shrink",
                "--continue-on-failure",
            ),
            *("--generation-deterministic", "--report", "json", "--report-json-path", str(report)),
        ]
        subprocess.run(command, stdout=sys.stderr, check=False, cwd=folder)
        found: dict[str, Any] = json.loads(report.read_text())
        return found


report = tested()
failures = {failure["code"]: failure for failure in report["failures"]}
for code, sentence in (
    CODES | {code: found["title"] for code, found in failures.items() if code not in CODES}
).items():

    @feature(sentence)
    def _(code: str = code) -> None:
        operations = set(failures.get(code, {}).get("operations", ()))
        if code == "ST202":
            operations -= RULES.keys()
        assert not operations, ", ".join(sorted(operations))


@feature("every operation is tried")
def _() -> None:
    counts = report["operations"]
    assert counts["tested"] == counts["selected"] > 100, counts


if __name__ == "__main__":
    run("schemathesis", version("schemathesis"))
