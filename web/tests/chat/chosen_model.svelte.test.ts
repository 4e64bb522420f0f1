import { flushSync } from "svelte";
import { beforeEach, describe, expect, it } from "vitest";

import { Choices } from "../../src/chat/choices.svelte";
import { ChosenModel } from "../../src/chat/chosen_model.svelte";
import type { LoadableModel } from "../../src/chat/model_choice";
import { Preferences } from "../../src/settings/preferences.svelte";
import { Server } from "../../src/settings/server.svelte";
import { MemoryStorage } from "../../src/settings/storage";
import type { Answer } from "../../src/wire/transport/http";
import { FakeClock } from "../clock";

const silent = { read: () => new Promise<never>(() => {}), change: () => new Promise<never>(() => {}) };
const model = (name: string) => ({ name, engine: "llama", context: 100, parameters: 0, description: "", bundled: false, verbs: [] });

let models: string[];
let mayLoad: boolean;
let list: Answer<{ data: LoadableModel[] }>;
let server: Server;
let choices: Choices;
let chosen: ChosenModel;

beforeEach(async () => {
  models = ["mini", "big"];
  mayLoad = true;
  list = { kind: "ok", value: { data: [] } };
  const clock = new FakeClock();
  const capabilities = () => ({ state: "ready", detail: "", default_model: models[0] ?? null, models: models.map(model), aliases: { best: "big" }, features: { models: mayLoad } });
  server = new Server(async () => new Response(JSON.stringify(capabilities())), clock);
  const preferences = new Preferences(new MemoryStorage(), silent, clock, () => {});
  choices = new Choices({ preferences, save: async () => ({ kind: "ok", value: null }), reportProblem: () => {}, isLoaded: () => true });
  chosen = new ChosenModel({ choices, preferences, server, list: async () => list });
});

const open = (name?: string) => choices.switchTo("c", name === undefined ? {} : { model: name });

describe("the model shown", () => {
  it("is none before the server has answered, and then the default", async () => {
    expect(chosen.model).toBeNull();
    expect(chosen.needsCheck).toBe(false);
    await server.refresh();
    expect(chosen.model?.name).toBe("mini");
    expect(chosen.loadedName).toBe("mini");
  });

  it("is the one of the conversation, by its alias too", async () => {
    await server.refresh();
    open("best");
    expect(chosen.model?.name).toBe("big");
    expect(chosen.needsCheck).toBe(false);
  });

  it("is looked for among those that can be loaded where it is not loaded", async () => {
    await server.refresh();
    open("old");
    expect(chosen.needsCheck).toBe(true);
    expect(chosen.decision).toEqual({ kind: "checking", wanted: "old" });
    expect(chosen.model).toMatchObject({ name: "old", state: "unloaded" });
    await chosen.check();
    expect(chosen.decision).toMatchObject({ kind: "fall_back", reason: "gone" });
    expect(chosen.model?.name).toBe("mini");
    list = { kind: "ok", value: { data: [{ id: "old" }] } };
    await chosen.check();
    expect(chosen.decision).toEqual({ kind: "load", name: "old" });
    expect(chosen.loadedName).toBe("");
  });

  it("stays while the list cannot be read", async () => {
    await server.refresh();
    open("old");
    list = { kind: "unreachable" };
    await chosen.check();
    expect(chosen.decision.kind).toBe("checking");
  });

  it("is the one that was loaded meanwhile", async () => {
    await server.refresh();
    open("old");
    await chosen.check();
    models = ["mini", "old"];
    await server.refresh();
    flushSync();
    expect(chosen.decision).toMatchObject({ kind: "use", model: { name: "old" } });
  });
});
