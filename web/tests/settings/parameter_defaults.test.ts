import { describe, expect, it } from "vitest";

import { defaultOf, splitBySupport } from "../../src/settings/parameter_defaults";
import { PARAMETERS } from "../../src/settings/parameters";
import type { Model } from "../../src/wire/server/server";

const model = (changes: Partial<Model> = {}): Model => ({ name: "mini", engine: "llama", context: 4096, parameters: 1, description: "", bundled: false, verbs: [], ...changes });

describe("the default of a parameter", () => {
  it("the operator's word holds over the engine's", () => {
    const mini = model({ defaults: { temperature: 0.8 } });
    expect(defaultOf("temperature", mini, { temperature: 0.3 })).toEqual({ from: "operator", value: 0.3 });
    expect(defaultOf("temperature", mini, {})).toEqual({ from: "engine", value: 0.8 });
    expect(defaultOf("top_k", mini, undefined)).toEqual({ from: "unknown" });
    expect(defaultOf("logit_bias", mini, undefined)).toEqual({ from: "engine", value: {} });
  });

  it("an upstream decides for itself", () => {
    expect(defaultOf("temperature", model({ engine: "remote" }), {})).toEqual({ from: "upstream" });
    expect(defaultOf("temperature", null, {})).toEqual({ from: "unknown" });
  });
});

describe("the parameters of a model", () => {
  it("are those it applies, in the order of the page", () => {
    const { applied, others } = splitBySupport(model({ sampling: ["max_tokens", "temperature", "logprobs"] }));
    expect(applied.map(({ name }) => name)).toEqual(["temperature", "max_tokens"]);
    expect(others).toHaveLength(PARAMETERS.length - 2);
  });

  it("are all where it does not say", () => {
    expect(splitBySupport(model()).applied).toHaveLength(PARAMETERS.length);
    expect(splitBySupport(null).others).toEqual([]);
  });
});
