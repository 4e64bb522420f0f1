"""Every family that is tested: one row for each format of the catalogue, from the test file of the family."""

from __future__ import annotations

from tests.support.tool_call_families import Family
from tests.text.toolcalls.elements import (
    test_deepseek_v4,
    test_deepseek_v32,
    test_deepseek_v41,
    test_dots,
    test_gigachat35,
    test_mimo,
    test_minicpm5,
    test_minimax_m2,
    test_minimax_m3,
    test_qwen3_xml,
    test_seed_oss,
    test_step3,
)
from tests.text.toolcalls.expressions import (
    test_functiongemma,
    test_gemma4,
    test_lfm2,
    test_llama4_pythonic,
    test_olmo3,
    test_pythonic,
)
from tests.text.toolcalls.key_values import (
    test_glm45,
    test_glm47,
    test_hunyuan_hy3,
    test_hunyuan_hy4,
    test_iquest,
    test_k2_horizon,
    test_ling3,
    test_longcat_keys,
)
from tests.text.toolcalls.messages import test_harmony, test_inkling, test_kimi_k3, test_muse_glimmer
from tests.text.toolcalls.named_json import (
    test_deepseek_v3,
    test_deepseek_v31,
    test_functionary_v31,
    test_functionary_v32,
    test_kimi_k2,
    test_mistral,
)
from tests.text.toolcalls.wrapped_json import (
    test_apertus,
    test_command,
    test_ernie45,
    test_gigachat3,
    test_granite,
    test_granite_20b,
    test_hermes,
    test_hunyuan_a13b,
    test_internlm,
    test_jamba,
    test_llama3_json,
    test_longcat,
    test_minimax_m1,
    test_mistral_array,
    test_nemotron_nano,
    test_phi4_mini,
    test_xlam,
)

FAMILIES: tuple[Family, ...] = (
    # JSON objects between markers
    test_apertus.FAMILY,
    test_command.FAMILY,
    test_ernie45.FAMILY,
    test_gigachat3.FAMILY,
    test_granite.FAMILY,
    test_granite_20b.FAMILY,
    test_hermes.FAMILY,
    test_hunyuan_a13b.FAMILY,
    test_internlm.FAMILY,
    test_jamba.FAMILY,
    test_llama3_json.FAMILY,
    test_longcat.FAMILY,
    test_minimax_m1.FAMILY,
    test_mistral_array.FAMILY,
    test_nemotron_nano.FAMILY,
    test_phi4_mini.FAMILY,
    test_xlam.FAMILY,
    # a name, then JSON
    test_mistral.FAMILY,
    test_kimi_k2.FAMILY,
    test_deepseek_v3.FAMILY,
    test_deepseek_v31.FAMILY,
    test_functionary_v31.FAMILY,
    test_functionary_v32.FAMILY,
    # an element for each parameter
    test_qwen3_xml.FAMILY,
    test_deepseek_v32.FAMILY,
    test_deepseek_v4.FAMILY,
    test_deepseek_v41.FAMILY,
    test_dots.FAMILY,
    test_gigachat35.FAMILY,
    test_mimo.FAMILY,
    test_minicpm5.FAMILY,
    test_minimax_m2.FAMILY,
    test_minimax_m3.FAMILY,
    test_seed_oss.FAMILY,
    test_step3.FAMILY,
    # keys and values in turn
    test_glm45.FAMILY,
    test_glm47.FAMILY,
    test_hunyuan_hy3.FAMILY,
    test_hunyuan_hy4.FAMILY,
    test_iquest.FAMILY,
    test_k2_horizon.FAMILY,
    test_ling3.FAMILY,
    test_longcat_keys.FAMILY,
    # expressions
    test_gemma4.FAMILY,
    test_functiongemma.FAMILY,
    test_lfm2.FAMILY,
    test_olmo3.FAMILY,
    test_llama4_pythonic.FAMILY,
    test_pythonic.FAMILY,
    # messages
    test_harmony.FAMILY,
    test_inkling.FAMILY,
    test_kimi_k3.FAMILY,
    test_muse_glimmer.FAMILY,
)
