"""Recordings of calls and spoken chats: what was said and heard, on one timeline, for the person who asked for it."""
