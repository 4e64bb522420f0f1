"""The duplex socket, `/ws/duplex/{session_id}`: calls in chunks of audio, each answered by one result."""
