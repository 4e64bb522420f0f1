"""Fields of requests that belong together: how to think, and what constrains an answer."""
