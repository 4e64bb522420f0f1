"""What everything is made of: messages, events, requests. Pure data; imports nothing of ours but errors."""
