"""The settings of APIs that have a port of their own, because their paths collide with this server's."""

from __future__ import annotations

from pydantic import Field

from duologue.config.section import Section

OLLAMA_PORT = 11434
"""Where Ollama's clients look for it."""


class OllamaSettings(Section):
    enabled: bool = Field(default=False, description="Serve Ollama's API, on a port of its own.")
    port: int = Field(
        default=OLLAMA_PORT, ge=0, le=65535, description="The port of Ollama's API; 0: any free port."
    )
    host: str = Field(
        default="", description="The address Ollama's API listens on; empty: that of the setting `host`."
    )


class CompatSettings(Section):
    ollama: OllamaSettings = OllamaSettings()

    def hosts(self, host: str) -> tuple[str, ...]:
        """The addresses that the server listens on; `host` is the main one."""
        return (host, self.ollama.host) if self.ollama.enabled and self.ollama.host else (host,)
