"""One call that an omni model holds: units of sound and frames, replies, and what was heard of them."""
