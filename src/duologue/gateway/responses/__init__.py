"""OpenAI's Responses and Conversations APIs over the reply pipeline."""
