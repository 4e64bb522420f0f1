"""The chat template for models without a usable one of their own."""

from __future__ import annotations

CHATML = """\
{%- for message in messages -%}
    {%- if loop.first and tools -%}
        {{- '<|im_start|>system\\n' -}}
        {%- if message.role == 'system' -%}{{- message.content ~ '\\n\\n' -}}{%- endif -%}
        {{- 'You may call these functions, one JSON object each:\\n<tools>\\n' -}}
        {%- for tool in tools -%}{{- tool | tojson ~ '\\n' -}}{%- endfor -%}
        {{- '</tools>\\nA call is written as\\n<tool_call>\\n{"name": "the name", "arguments": {}}\\n</tool_call>' -}}
        {{- '<|im_end|>\\n' -}}
    {%- endif -%}
    {%- if message.role == 'tool' -%}
        {{- '<|im_start|>user\\n<tool_response>\\n' ~ message.content ~ '\\n</tool_response><|im_end|>\\n' -}}
    {%- elif not (loop.first and tools and message.role == 'system') -%}
        {{- '<|im_start|>' ~ message.role ~ '\\n' ~ message.content -}}
        {%- for call in message.tool_calls or [] -%}
            {%- if message.content or not loop.first -%}{{- '\\n' -}}{%- endif -%}
            {{- '<tool_call>\\n{"name": ' ~ call.function.name | tojson ~ ', "arguments": ' -}}
            {%- if call.function.arguments is string -%}{{- call.function.arguments -}}
            {%- else -%}{{- call.function.arguments | tojson -}}{%- endif -%}
            {{- '}\\n</tool_call>' -}}
        {%- endfor -%}
        {{- '<|im_end|>\\n' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""
"""ChatML, with calls in Hermes format."""
