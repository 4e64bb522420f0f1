"""How people ask about each topic of `facts/`: goals, things, troubles and whole questions."""

from duologue_mini.inquiries.access import DOORS
from duologue_mini.inquiries.appearance import LOOKS
from duologue_mini.inquiries.chats import CHATS
from duologue_mini.inquiries.engines import ENGINES
from duologue_mini.inquiries.inquiry import Inquiry
from duologue_mini.inquiries.keys import KEYS
from duologue_mini.inquiries.loading import LOADING
from duologue_mini.inquiries.page import PAGE
from duologue_mini.inquiries.running import RUNNING
from duologue_mini.inquiries.tools import TOOLS
from duologue_mini.inquiries.voice import VOICE

INQUIRIES: dict[str, Inquiry] = {
    **RUNNING,
    **ENGINES,
    **LOADING,
    **DOORS,
    **KEYS,
    **PAGE,
    **LOOKS,
    **CHATS,
    **TOOLS,
    **VOICE,
}

__all__ = ["INQUIRIES", "Inquiry"]
