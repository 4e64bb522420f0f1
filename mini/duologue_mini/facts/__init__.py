"""Facts about Duologue by topic: the answers, and the page of the docs that each comes from.

The skills `guide` and `manners` answer from them; the questions are in `inquiries/`. A test holds every name in them
(commands, flags, settings, addresses, files, words of the page) to the server and its docs. Slots such as `$port` and
`$file` repeat what the user wrote.
"""

from duologue_mini.facts.chats import CHATS
from duologue_mini.facts.fact import Fact
from duologue_mini.facts.keys import KEYS
from duologue_mini.facts.models import ENGINES
from duologue_mini.facts.page import PAGE
from duologue_mini.facts.server import SERVER
from duologue_mini.facts.tools import TOOLS
from duologue_mini.facts.voice import VOICE

# The order is part of the corpus: topics are drawn from it by position.
FACTS: dict[str, Fact] = {**ENGINES, **PAGE, **KEYS, **CHATS, **TOOLS, **VOICE, **SERVER}
