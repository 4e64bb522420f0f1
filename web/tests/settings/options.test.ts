import { describe, expect, it } from "vitest";

import { optionsFor } from "../../src/settings/options";

const mini = { name: "mini", verbs: ["thinking"] };
const plain = { name: "plain", verbs: [] };
const server = (model: object | null) => ({ capabilities: { default_model: "mini" }, model: () => model }) as never;

describe("how a request is asked", () => {
  it("says whether to think, to a model that can", () => {
    expect(optionsFor(server(mini), { model: "", thinking: true })).toEqual({ speaker: "mini", thinking: true });
    expect(optionsFor(server(mini), { model: "", thinking: false })).toEqual({ speaker: "mini", thinking: false });
  });

  it("names the model where it is not the default one", () => {
    expect(optionsFor(server(plain), { model: "plain", thinking: true })).toEqual({ speaker: "plain", model: "plain" });
  });

  it("works before the server was heard", () => {
    expect(optionsFor(server(null), { model: "", thinking: true })).toEqual({ speaker: "The model" });
  });
});
