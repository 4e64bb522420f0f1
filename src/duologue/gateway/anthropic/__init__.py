"""Anthropic's Messages API, for its SDKs and for agents that speak to it."""
