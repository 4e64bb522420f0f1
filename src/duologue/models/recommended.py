"""Models worth downloading: well-known open-weight instruct models as GGUF files, from half a billion to 120 billion
parameters.

Used by `reference`, `duologue setup` and the models page. Sizes are approximate (a repository may replace its files); a
download uses the hub's current list. Licences are those of the models; most are free, Gemma's and Llama's have conditions
of use.
"""

from __future__ import annotations

from msgspec import Struct

MILLION, BILLION = 10**6, 10**9
TOOLS, THINKING, CODE = "tools", "thinking", "code"


class Recommended(Struct, frozen=True):
    """A model that can be downloaded by its short `name`.

    `active` is how many of the parameters one token uses (fewer than all in a mixture of experts), `size` about how
    many bytes the file has (all parts), `file` its name in the repository (the first part of a split one).
    """

    name: str
    repository: str
    file: str
    parameters: int
    size: int
    licence: str
    context: int
    abilities: tuple[str, ...] = ()
    active: int = 0
    description: str = ""
    """What it is good for, in a few words."""
    first_choice: bool = False
    """Whether `duologue setup` may propose it: a free licence, and thinking and tool calls in a supported format."""

    @property
    def active_parameters(self) -> int:
        return self.active or self.parameters


RECOMMENDED: tuple[Recommended, ...] = (
    Recommended(
        "smollm2-360m",
        "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF",
        "smollm2-360m-instruct-q8_0.gguf",
        parameters=360 * MILLION,
        size=390 * MILLION,
        licence="Apache-2.0",
        context=8_192,
        description="Tiny and quick; simple questions.",
    ),
    Recommended(
        "qwen3-0.6b",
        "Qwen/Qwen3-0.6B-GGUF",
        "Qwen3-0.6B-Q8_0.gguf",
        parameters=600 * MILLION,
        size=640 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING),
        first_choice=True,
        description="The smallest that thinks and calls tools.",
    ),
    Recommended(
        "gemma-3-1b",
        "ggml-org/gemma-3-1b-it-GGUF",
        "gemma-3-1b-it-Q4_K_M.gguf",
        parameters=1_000 * MILLION,
        size=810 * MILLION,
        licence="Gemma Terms",
        context=32_768,
        description="Small; writes nicely.",
    ),
    Recommended(
        "llama-3.2-1b",
        "bartowski/Llama-3.2-1B-Instruct-GGUF",
        "Llama-3.2-1B-Instruct-Q4_K_M.gguf",
        parameters=1_240 * MILLION,
        size=810 * MILLION,
        licence="Llama 3.2 Community",
        context=131_072,
        abilities=(TOOLS,),
        description="Small and quick; summaries and simple tools.",
    ),
    Recommended(
        "smollm2-1.7b",
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        "smollm2-1.7b-instruct-q4_k_m.gguf",
        parameters=1_710 * MILLION,
        size=1_060 * MILLION,
        licence="Apache-2.0",
        context=8_192,
        description="Small and plain, mostly English.",
    ),
    Recommended(
        "qwen3-1.7b",
        "Qwen/Qwen3-1.7B-GGUF",
        "Qwen3-1.7B-Q8_0.gguf",
        parameters=1_700 * MILLION,
        size=1_830 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING),
        first_choice=True,
        description="Small; thinks, calls tools, many languages.",
    ),
    Recommended(
        "smollm3-3b",
        "ggml-org/SmolLM3-3B-GGUF",
        "SmolLM3-Q4_K_M.gguf",
        parameters=3_080 * MILLION,
        size=1_920 * MILLION,
        licence="Apache-2.0",
        context=65_536,
        abilities=(TOOLS, THINKING),
        description="Small for its skill; thinks in six languages.",
    ),
    Recommended(
        "llama-3.2-3b",
        "bartowski/Llama-3.2-3B-Instruct-GGUF",
        "Llama-3.2-3B-Instruct-Q4_K_M.gguf",
        parameters=3_210 * MILLION,
        size=2_020 * MILLION,
        licence="Llama 3.2 Community",
        context=131_072,
        abilities=(TOOLS,),
        description="A good small all-rounder with a long memory.",
    ),
    Recommended(
        "qwen3-4b",
        "Qwen/Qwen3-4B-GGUF",
        "Qwen3-4B-Q4_K_M.gguf",
        parameters=4_020 * MILLION,
        size=2_500 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING),
        first_choice=True,
        description="The smallest for everyday work; thinks and calls tools.",
    ),
    Recommended(
        "gemma-3-4b",
        "ggml-org/gemma-3-4b-it-GGUF",
        "gemma-3-4b-it-Q4_K_M.gguf",
        parameters=3_880 * MILLION,
        size=2_490 * MILLION,
        licence="Gemma Terms",
        context=131_072,
        description="Writes well, in many languages.",
    ),
    Recommended(
        "llama-3.1-8b",
        "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF",
        "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
        parameters=8_030 * MILLION,
        size=4_920 * MILLION,
        licence="Llama 3.1 Community",
        context=131_072,
        abilities=(TOOLS,),
        description="A well-known all-rounder with a long memory.",
    ),
    Recommended(
        "qwen3-8b",
        "Qwen/Qwen3-8B-GGUF",
        "Qwen3-8B-Q4_K_M.gguf",
        parameters=8_190 * MILLION,
        size=5_030 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING),
        first_choice=True,
        description="A solid everyday model; thinks and calls tools.",
    ),
    Recommended(
        "gemma-3-12b",
        "ggml-org/gemma-3-12b-it-GGUF",
        "gemma-3-12b-it-Q4_K_M.gguf",
        parameters=11_770 * MILLION,
        size=7_300 * MILLION,
        licence="Gemma Terms",
        context=131_072,
        description="Writes very well, in many languages.",
    ),
    Recommended(
        "phi-4",
        "bartowski/phi-4-GGUF",
        "phi-4-Q4_K_M.gguf",
        parameters=14_660 * MILLION,
        size=9_050 * MILLION,
        licence="MIT",
        context=16_384,
        abilities=(CODE,),
        description="Strong in mathematics and reasoning.",
    ),
    Recommended(
        "qwen3-14b",
        "Qwen/Qwen3-14B-GGUF",
        "Qwen3-14B-Q4_K_M.gguf",
        parameters=14_770 * MILLION,
        size=9_000 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING, CODE),
        first_choice=True,
        description="Careful answers; thinks and calls tools.",
    ),
    Recommended(
        "gpt-oss-20b",
        "ggml-org/gpt-oss-20b-GGUF",
        "gpt-oss-20b-mxfp4.gguf",
        parameters=20_910 * MILLION,
        active=3_600 * MILLION,
        size=12_100 * MILLION,
        licence="Apache-2.0",
        context=131_072,
        abilities=(TOOLS, THINKING, CODE),
        description="Quick for its size; thinks and calls tools.",
    ),
    Recommended(
        "mistral-small-24b",
        "bartowski/mistralai_Mistral-Small-3.2-24B-Instruct-2506-GGUF",
        "mistralai_Mistral-Small-3.2-24B-Instruct-2506-Q4_K_M.gguf",
        parameters=23_570 * MILLION,
        size=14_330 * MILLION,
        licence="Apache-2.0",
        context=131_072,
        abilities=(TOOLS,),
        description="A capable all-rounder, good with tools.",
    ),
    Recommended(
        "gemma-3-27b",
        "ggml-org/gemma-3-27b-it-GGUF",
        "gemma-3-27b-it-Q4_K_M.gguf",
        parameters=27_010 * MILLION,
        size=16_550 * MILLION,
        licence="Gemma Terms",
        context=131_072,
        description="Writes very well; for large cards.",
    ),
    Recommended(
        "qwen3-30b-a3b",
        "Qwen/Qwen3-30B-A3B-GGUF",
        "Qwen3-30B-A3B-Q4_K_M.gguf",
        parameters=30_530 * MILLION,
        active=3_300 * MILLION,
        size=18_560 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING, CODE),
        first_choice=True,
        description="Large knowledge at the pace of a small model.",
    ),
    Recommended(
        "qwen3-32b",
        "Qwen/Qwen3-32B-GGUF",
        "Qwen3-32B-Q4_K_M.gguf",
        parameters=32_760 * MILLION,
        size=19_760 * MILLION,
        licence="Apache-2.0",
        context=32_768,
        abilities=(TOOLS, THINKING, CODE),
        first_choice=True,
        description="Thorough and strong; wants a large card.",
    ),
    Recommended(
        "llama-3.3-70b",
        "bartowski/Llama-3.3-70B-Instruct-GGUF",
        "Llama-3.3-70B-Instruct-Q4_K_M.gguf",
        parameters=70_550 * MILLION,
        size=42_520 * MILLION,
        licence="Llama 3.3 Community",
        context=131_072,
        abilities=(TOOLS, CODE),
        description="A large all-rounder for large machines.",
    ),
    Recommended(
        "gpt-oss-120b",
        "ggml-org/gpt-oss-120b-GGUF",
        "gpt-oss-120b-mxfp4-00001-of-00003.gguf",
        parameters=116_830 * MILLION,
        active=5_100 * MILLION,
        size=63_390 * MILLION,
        licence="Apache-2.0",
        context=131_072,
        abilities=(TOOLS, THINKING, CODE),
        description="Very capable; for machines with much memory.",
    ),
)
"""By size. The choice is by `fit.recommend`, not by this order."""
