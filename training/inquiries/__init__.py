"""How people ask about each topic of facts.py: what they want to do, what they name, what they complain of.

Puts the wordings of all topics together. Knows no answer.
"""

from training.inquiries.chats import CHATS
from training.inquiries.doors import DOORS
from training.inquiries.engines import ENGINES
from training.inquiries.inquiry import Inquiry
from training.inquiries.keys import KEYS
from training.inquiries.loading import LOADING
from training.inquiries.looks import LOOKS
from training.inquiries.page import PAGE
from training.inquiries.running import RUNNING
from training.inquiries.tools import TOOLS
from training.inquiries.voice import VOICE

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
