import { describe, expect, it } from "vitest";

import { mergeOptions, optionsFor } from "../../src/settings/options";
import type { Model } from "../../src/wire/server/server";
import type { GenerationOptions } from "../../src/wire/server/settings";

const mini = { name: "mini", verbs: ["thinking"] };
const plain = { name: "plain", verbs: [] };
const optionsOf = (model: object | null, options: GenerationOptions) => optionsFor(model as Model | null, "mini", options);

describe("the options of a run", () => {
  it("says whether to think, to a model that can", () => {
    expect(optionsOf(mini, { thinking: true })).toEqual({ speaker: "mini", thinking: true });
    expect(optionsOf(mini, { thinking: false })).toEqual({ speaker: "mini", thinking: false });
  });

  it("names the model where it is not the default one", () => {
    expect(optionsOf(plain, { model: "plain", thinking: true })).toEqual({ speaker: "plain", model: "plain" });
  });

  it("says how long to think only where that can be said and thinking is on", () => {
    const able = { name: "mini", verbs: ["thinking", "effort"] };
    expect(optionsOf(able, { thinking: true, effort: "low" })).toEqual({ speaker: "mini", thinking: true, effort: "low" });
    expect(optionsOf(able, { effort: "low" })).toEqual({ speaker: "mini", thinking: false });
    expect(optionsOf(mini, { thinking: true, effort: "low" })).toEqual({ speaker: "mini", thinking: true });
  });

  it("says which tools are off, and nothing where nothing was chosen", () => {
    expect(optionsOf(plain, { tools: false, servers: { notes: false } })).toMatchObject({ tools: false, servers: { notes: false } });
    expect(optionsOf(plain, { servers: {} })).toEqual({ speaker: "plain", model: "plain" });
  });

  it("lets a conversation's own choices hold over what is liked", () => {
    const preferred = { model: "big", thinking: true, servers: { a: true, b: true } };
    expect(mergeOptions(preferred, { model: "small", servers: { b: false } })).toEqual({ model: "small", thinking: true, servers: { a: true, b: false } });
  });

  it("works before the server was heard", () => {
    expect(optionsOf(null, { thinking: true })).toEqual({ speaker: "" });
  });
});
