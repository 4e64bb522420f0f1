// The same table as tests/values/test_model_choice.py.
import { describe, expect, it } from "vitest";

import { decideModel, loadedModel, type ModelFacts } from "../../src/chat/model_choice";
import type { Model } from "../../src/wire/server/server";

const model = (name: string): Model => ({ name, engine: "llama", context: 100, parameters: 0, description: "", bundled: false, verbs: [] });
const [mini, big] = [model("mini"), model("big")];
const facts = (changes: Partial<ModelFacts> = {}): ModelFacts => ({ models: [mini, big], aliases: { best: "big" }, defaultModel: "mini", loadable: [], mayLoad: true, ...changes });

describe("the model that answers", () => {
  it("is the conversation's if it is loaded, by name or alias", () => {
    expect(decideModel("big", "mini", facts())).toEqual({ kind: "use", model: big });
    expect(decideModel("best", "", facts({ mayLoad: false }))).toEqual({ kind: "use", model: big });
  });

  it("is loaded first by users who may", () => {
    const loadable = [{ id: "old" }];
    expect(decideModel("old", "", facts({ loadable }))).toEqual({ kind: "load", name: "old" });
    expect(decideModel("old", "", facts({ loadable, mayLoad: false }))).toEqual({ kind: "fall_back", wanted: "old", reason: "unloaded", model: mini });
  });

  it("is the default where the conversation's could not be loaded or is gone", () => {
    expect(decideModel("old", "", facts({ loadable: [{ id: "old", failed: true }] }))).toEqual({ kind: "fall_back", wanted: "old", reason: "failed", model: mini });
    expect(decideModel("old", "big", facts())).toEqual({ kind: "fall_back", wanted: "old", reason: "gone", model: mini });
    expect(decideModel("old", "", facts({ models: [], defaultModel: null }))).toEqual({ kind: "fall_back", wanted: "old", reason: "gone", model: null });
  });

  it("is the preferred one of a chat without a choice, if that is loaded", () => {
    expect(decideModel("", "big", facts())).toEqual({ kind: "use", model: big });
    expect(decideModel("", "old", facts({ loadable: [{ id: "old" }] }))).toEqual({ kind: "use", model: mini });
    expect(decideModel("", "", facts())).toEqual({ kind: "use", model: mini });
    expect(decideModel("", "", facts({ models: [], defaultModel: null }))).toEqual({ kind: "use", model: null });
  });

  it("is not known before the list is", () => {
    expect(decideModel("old", "", facts({ loadable: null }))).toEqual({ kind: "checking", wanted: "old" });
    expect(decideModel("big", "", facts({ loadable: null }))).toEqual({ kind: "use", model: big });
  });
});

it("an alias never hides a model of that name", () => {
  expect(loadedModel("mini", { models: [mini, big], aliases: { mini: "big" } })).toBe(mini);
  expect(loadedModel("none", { models: [mini], aliases: { none: "big" } })).toBeNull();
});
