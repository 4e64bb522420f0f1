"""A client of a running server: its HTTP API, calls over `/ws/voice`, and this machine's microphone and loudspeaker."""
