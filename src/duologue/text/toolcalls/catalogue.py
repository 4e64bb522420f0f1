"""The table of tool-call formats: their names, the names that other servers give them, and the templates that use them.

A model's format is found in its chat template (`guess_tool_format`) or named in its settings (`tool_format`). A format
is imported when it is first used. `docs/tool-formats.md` lists the table.
"""

from __future__ import annotations

from importlib import import_module

from msgspec import Struct

from duologue.errors import BadRequest
from duologue.text.toolcalls import ToolFormat

PACKAGE = "duologue.text.toolcalls"


class ToolFormatEntry(Struct, frozen=True):
    """A row of the table: the file under `text/toolcalls/`. `aliases`: names that other servers give the format. A chat
    template uses it if it contains all of `marks` and none of `unless`; without marks it has to be named. `constant`
    is the name of the format in its file."""

    module: str
    marks: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    constant: str = "FORMAT"

    def written_by(self, template: str) -> bool:
        return (
            bool(self.marks)
            and all(mark in template for mark in self.marks)
            and not any(mark in template for mark in self.unless)
        )


# The first row whose marks a template has is its format: those with markers of their own come before those that share some.
TOOL_FORMATS: dict[str, ToolFormatEntry] = {
    # JSON objects between markers
    "granite": ToolFormatEntry("wrapped_json.granite", ("<|start_of_role|>", "<|tool_call|>")),
    "granite_20b": ToolFormatEntry(
        "wrapped_json.granite_20b",
        ("<|function_call_library|>", "<function_call>"),
        aliases=("granite-20b-fc",),
    ),
    "phi4_mini": ToolFormatEntry(
        "wrapped_json.phi4_mini", ("functools",), aliases=("phi4_mini_json", "firefunction")
    ),
    "jamba": ToolFormatEntry("wrapped_json.jamba", ("<|bom|>", "<tool_calls>")),
    "minimax_m1": ToolFormatEntry(
        "wrapped_json.minimax_m1", ("<beginning_of_sentence>", "<tool_calls>"), aliases=("minimax",)
    ),
    "hunyuan_a13b": ToolFormatEntry("wrapped_json.hunyuan_a13b", ("<tool_calls>[",), ("<tool_sep",)),
    "nemotron_nano": ToolFormatEntry(
        "wrapped_json.nemotron_nano", ("<TOOLCALL>",), aliases=("nemotron_json",)
    ),
    "internlm": ToolFormatEntry(
        "wrapped_json.internlm",
        ("<|action_start|>", "<|plugin|>"),
        aliases=("interns1", "intern-s1"),
    ),
    "ernie45": ToolFormatEntry("wrapped_json.ernie45", ("<global_setting>", "<tool_call>")),
    "longcat": ToolFormatEntry("wrapped_json.longcat", ("<longcat_tool_call>",), ("<longcat_arg_key>",)),
    "apertus": ToolFormatEntry("wrapped_json.apertus", ("<|tools_prefix|>",), aliases=("apertus2509",)),
    "command": ToolFormatEntry(
        "wrapped_json.command", ("<|START_ACTION|>",), aliases=("cohere_command", "cohere")
    ),
    "gigachat3": ToolFormatEntry("wrapped_json.gigachat3", ("function call", "<|role_sep|>"), ("｜GCML｜",)),
    "xlam": ToolFormatEntry("wrapped_json.xlam", ('[{"name": "tool_call_name"',)),
    "mistral_array": ToolFormatEntry(
        "wrapped_json.mistral_array",
        ("[TOOL_CALLS]", "[TOOL_RESULTS]"),
        ("[ARGS]",),
        aliases=("mistral_old",),
    ),
    "llama3_json": ToolFormatEntry(
        "wrapped_json.llama3_json",
        ('"parameters": ', "ipython"),
        ("<function=", "<tool_call>"),
        aliases=("llama3", "llama4_json"),
    ),
    "hermes": ToolFormatEntry(
        "wrapped_json.hermes",
        ("<tool_call>", "arguments"),
        ("<function=", "<arg_key>", "<parameter=", "<tool_sep", "]<]minimax[>["),
        aliases=("qwen", "qwen25", "qwen2_5", "granite4"),
    ),
    # a name, then JSON
    "mistral": ToolFormatEntry("named_json.mistral", ("[TOOL_CALLS]", "[ARGS]"), aliases=("mistral_v11",)),
    "kimi_k2": ToolFormatEntry(
        "named_json.kimi_k2", ("<|tool_call_begin|>", "<|tool_call_argument_begin|>"), aliases=("kimi",)
    ),
    "deepseek_v3": ToolFormatEntry(
        "named_json.deepseek_v3", ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "```"), aliases=("deepseekv3",)
    ),
    "deepseek_v31": ToolFormatEntry(
        "named_json.deepseek_v31",
        ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"),
        ("```",),
        aliases=("deepseekv31",),
    ),
    "functionary_v31": ToolFormatEntry(
        "named_json.functionary_v31", ("<function=", "</function>"), ("<parameter=", "<tool_call>")
    ),
    "functionary_v32": ToolFormatEntry(
        "named_json.functionary_v32", (">>>all\\n", "'>>>' + "), aliases=("functionary",)
    ),
    # an element for each parameter
    "mimo": ToolFormatEntry("elements.mimo", ("<tool_call>", "<function=", "value_1</parameter>")),
    "qwen3_xml": ToolFormatEntry(
        "elements.qwen3_xml",
        ("<tool_call>", "<function=", "<parameter="),
        ("<arg_key>",),
        aliases=("qwen3_coder", "qwen_coder", "qwen_xml", "nemotron", "nanbeige", "step3p5"),
    ),
    "seed_oss": ToolFormatEntry("elements.seed_oss", ("<seed:tool_call>", "<function=")),
    "minimax_m3": ToolFormatEntry("elements.minimax_m3", ("]<]minimax[>[",), aliases=("minimax-m3",)),
    "minimax_m2": ToolFormatEntry("elements.minimax_m2", ("<minimax:tool_call>",), aliases=("minimax-m2",)),
    "deepseek_v32": ToolFormatEntry(
        "elements.deepseek_v32", ("｜DSML｜", "function_calls>"), aliases=("deepseekv32", "deepseek32")
    ),
    "deepseek_v41": ToolFormatEntry(
        "elements.deepseek_v41", ("｜DSML｜", " calls>", " invoke"), aliases=("deepseekv41",)
    ),
    "deepseek_v4": ToolFormatEntry("elements.deepseek_v4", ("｜DSML｜",), aliases=("deepseekv4",)),
    "gigachat35": ToolFormatEntry("elements.gigachat35", ("｜GCML｜",)),
    "step3": ToolFormatEntry("elements.step3", ("<steptml:invoke",)),
    "dots": ToolFormatEntry("elements.dots", ("<dots_function_call>",)),
    "minicpm5": ToolFormatEntry("elements.minicpm5", ('<function name="', '<param name="')),
    # keys and values in turn
    "iquest": ToolFormatEntry(
        "key_values.iquest", ("<iquest_tool_call>", "<arg_key>"), aliases=("iquest_q1",)
    ),
    "hunyuan_hy4": ToolFormatEntry(
        "key_values.hunyuan_hy4", ("<tool_calls", "<arg_key"), ("<tool_sep",), aliases=("hy_v4",)
    ),
    "hunyuan_hy3": ToolFormatEntry(
        "key_values.hunyuan_hy3", ("<tool_calls", "<arg_key"), aliases=("hy_v3", "hunyuan")
    ),
    "ling3": ToolFormatEntry("key_values.ling3", ("<role>", "<tool_call>", "<arg_key>")),
    "glm47": ToolFormatEntry(
        "key_values.glm47",
        ("<tool_call>", "</arg_key><arg_value>"),
        aliases=("glm47_moe", "spark25"),
    ),
    "glm45": ToolFormatEntry(
        "key_values.glm45",
        ("<tool_call>", "<arg_key>", "<arg_value>"),
        aliases=("glm", "glm45_moe", "poolside_v1"),
    ),
    "longcat_keys": ToolFormatEntry("key_values.longcat_keys", ("<longcat_tool_call>", "<longcat_arg_key>")),
    "k2_horizon": ToolFormatEntry(
        "key_values.k2_horizon", ("<ifm|tool_call>", "<ifm|arg_key>"), aliases=("k2_v3",)
    ),
    # expressions
    "gemma4": ToolFormatEntry("expressions.gemma4", ("<|tool_call>", "<tool_call|>")),
    "functiongemma": ToolFormatEntry("expressions.functiongemma", ("<start_function_call>", "<escape>")),
    "lfm2": ToolFormatEntry(
        # The older templates name no marker of a call.
        "expressions.lfm2",
        ("<|im_start|>", "List of tools: "),
        ("<tool_call>", "<function"),
    ),
    "olmo3": ToolFormatEntry(
        "expressions.olmo3", ("<function_calls>", "</function_calls>"), ("<invoke", "<tool_call>")
    ),
    "llama4_pythonic": ToolFormatEntry("expressions.llama4_pythonic", ("<|header_start|>", "[func_name1(")),
    "pythonic": ToolFormatEntry("expressions.pythonic", ("[func_name1(",), ("<|header_start|>",)),
    # messages
    "kimi_k3": ToolFormatEntry("messages.kimi_k3", ("<|open|>", "<|close|>", "<|sep|>")),
    "inkling": ToolFormatEntry("messages.inkling", ("<|message_model|>", "<|content_invoke_tool_json|>")),
    "muse_glimmer": ToolFormatEntry("messages.muse_glimmer", ("<atem:function_calls>", "<|message|>")),
    "harmony": ToolFormatEntry(
        "messages.harmony",
        ("<|channel|>", "<|message|>", "to=functions."),
        aliases=("openai", "gpt-oss", "gpt_oss"),
    ),
}

ALIASES: dict[str, str] = {alias: name for name, entry in TOOL_FORMATS.items() for alias in entry.aliases}


def tool_format(name: str) -> ToolFormat:
    """The format of this name or alias. Raises BadRequest, listing the known names, if there is none."""
    known = TOOL_FORMATS.get(ALIASES.get(name, name))
    if known is None:
        names = ", ".join(sorted(TOOL_FORMATS))
        raise BadRequest(
            f"There is no tool-call format called {name!r}. Known: {names}.",
            code="unknown_tool_format",
            param="format",
        )
    found: ToolFormat = getattr(import_module(f"{PACKAGE}.{known.module}"), known.constant)
    return found


def guess_tool_format(template: str) -> str:
    """The name of the format in a chat template's source; "" if none is recognised."""
    return next((name for name, known in TOOL_FORMATS.items() if known.written_by(template)), "")
