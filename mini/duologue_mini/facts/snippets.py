"""Commands, code and configuration that answers quote.

They hold brackets and braces, which the grammar of `text/phrases.py` would read as choices. Facts therefore name them by
slot, and they are filled in last.
"""

SNIPPETS = {
    "curl": 'curl http://127.0.0.1:8006/v1/chat/completions \\\n  -H "Content-Type: application/json" \\\n'
    '  -d \'{"messages": [{"role": "user", "content": "Hello!"}]}\'',
    "python": 'from openai import OpenAI\n\nclient = OpenAI(base_url="http://127.0.0.1:8006/v1", api_key="any")\n'
    'reply = client.chat.completions.create(\n    model="duologue-mini",\n'
    '    messages=[{"role": "user", "content": "Hello!"}],\n)\nprint(reply.choices[0].message.content)',
    "javascript": 'const answer = await fetch("http://127.0.0.1:8006/v1/chat/completions", {\n  method: "POST",\n'
    '  headers: {"Content-Type": "application/json"},\n'
    '  body: JSON.stringify({messages: [{role: "user", content: "Hello!"}]}),\n});',
    "frame": '{"messages": [{"role": "user", "content": "Hello!"}]}',
    "cancel": '{"type": "cancel"}',
    "mcpservers": "mcp:\n  servers:\n    time:\n      command: python3\n      args: [-m, mcp_server_time]",
    "mcpurl": "mcp:\n  servers:\n    mine:\n      url: https:",
    "owncert": "tls:\n  certificate: FILE.pem\n  private_key: KEY.pem",
    "temporary": '"temporary": true',
    "twoworkers": "workers:\n  - name: small\n  - model: ~/models/big.gguf",
    "aliases": "aliases:\n  gpt-4o: NAME",
    "uidefaults": "ui:\n  defaults:\n    page:\n      theme: dark\n      language: de",
    "thinkoff": '"enable_thinking": false',
    "thinkon": '"enable_thinking": true',
    "stream": '"stream": true',
    "done": "[DONE]",
    "pipvoice": "pip install 'duologue[voice]'",
    "pipwhisper": "pip install 'duologue[whisper]'",
    "pipkokoro": "pip install 'duologue[kokoro-onnx]'",
    "voiceoff": "voice:\n  enabled: false",
    "hearwhisper": "voice:\n  recogniser:\n    engine: whisper\n    model: small",
    "speakkokoro": "voice:\n  speaker:\n    engine: kokoro_onnx",
    "remotevoice": "voice:\n  recogniser:\n    engine: remote\n    url: http:",
}
"""Texts with brackets of their own, filled in as they are."""
