"""What a model is sent of a conversation: the message tree, the context window, compaction, titles."""
