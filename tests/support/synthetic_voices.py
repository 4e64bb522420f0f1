"""The bundled recogniser's adaptation to synthetic voices, for tests whose callers are made of espeak.

As it comes, the recogniser knows people, and gets most words of a synthesiser wrong.
"""

from __future__ import annotations

import json
from pathlib import Path

ADAPTATION = Path(__file__).parents[2] / "bench" / "recogniser" / "synthetic"
ADAPTED = {"adaptation": str(ADAPTATION)}
HEARS_ESPEAK = {"DUOLOGUE_VOICE__RECOGNISER__OPTIONS": json.dumps(ADAPTED)}
"""The environment of a server that espeak calls."""
