"""Avatars drawn as video: the replies of calls, and clips."""
