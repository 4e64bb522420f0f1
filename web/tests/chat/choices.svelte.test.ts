import { beforeEach, describe, expect, it } from "vitest";

import { Choices } from "../../src/chat/choices.svelte";
import { Preferences } from "../../src/settings/preferences.svelte";
import { MemoryStorage } from "../../src/settings/storage";
import type { GenerationOptions } from "../../src/wire/server/settings";
import { FakeClock } from "../clock";

const silent = { read: () => new Promise<never>(() => {}), change: () => new Promise<never>(() => {}) };

let preferences: Preferences;
let kept: [string, GenerationOptions][];
let choices: Choices;

beforeEach(() => {
  preferences = new Preferences(new MemoryStorage(), silent, new FakeClock(), () => {});
  kept = [];
  choices = new Choices({
    preferences,
    save: async (conversation, options) => {
      kept.push([conversation, options]);
      return { kind: "ok", value: null };
    },
    reportProblem: () => {},
    isLoaded: (model) => model === "big",
  });
});

describe("choices", () => {
  it("made in a new conversation are where every later one begins", async () => {
    await choices.choose({ model: "big", thinking: true });
    choices.switchTo("c1");
    expect(choices.current).toMatchObject({ model: "big", thinking: true });
    expect(kept).toEqual([]);
  });

  it("made in a conversation stay with it, whatever is chosen elsewhere", async () => {
    choices.switchTo("c1");
    await choices.choose({ model: "small" });
    choices.switchTo("c2", { model: "big" });
    expect(choices.current.model).toBe("big");
    await choices.choose({ thinking: true });
    choices.switchTo("c1", { model: "small" });
    expect(choices.current.model).toBe("small");
    expect(kept).toEqual([
      ["c1", { model: "small", servers: {} }],
      ["c2", { model: "big", thinking: true, servers: {} }],
    ]);
  });

  it("are taken back by choosing nothing", async () => {
    await choices.choose({ effort: "low", thinking: true });
    await choices.choose({ effort: undefined });
    expect(choices.current.effort).toBeUndefined();
    expect(choices.current.thinking).toBe(true);
  });

  it("of a model that is not loaded are dropped by a new chat, which the default answers", async () => {
    await choices.choose({ model: "gone", thinking: true });
    expect(choices.takeForNewChat()).toEqual({ thinking: true, servers: {} });
    expect(preferences.options.model).toBeUndefined();
    await choices.choose({ model: "big" });
    expect(choices.takeForNewChat()).toEqual({ model: "big", thinking: true, servers: {} });
    expect(preferences.options.model).toBe("big");
  });

  it("end where new chats follow the default", async () => {
    await choices.choose({ model: "big" });
    choices.followDefault();
    expect(choices.current.model).toBeUndefined();
  });

  it("for one conversation alone change no other", async () => {
    choices.switchTo("c1");
    await choices.chooseHere({ servers: { notes: false } });
    choices.switchTo(null);
    expect(choices.current.servers).toEqual({});
  });
});
