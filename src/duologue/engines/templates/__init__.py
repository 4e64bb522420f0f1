"""Chat templates of models, rendered in processes that can be killed."""
