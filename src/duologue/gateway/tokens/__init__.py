"""What llama-server, vLLM and tabbyAPI answer about a model: tokens, prompts, properties; and what a running reply can be told."""
