import { describe, expect, it } from "vitest";

import { DEFAULTS, mergePatch, Preferences } from "../../src/settings/preferences.svelte";
import { MemoryStorage } from "../../src/settings/storage";
import type { Answer } from "../../src/wire/transport/http";
import type { Changes, Settings } from "../../src/wire/server/settings";
import { FakeClock } from "../clock";

type Plain = Record<string, unknown>;

/** A fake settings API that applies merge patches, unless unreachable. */
class FakeSettings {
  settings: Plain = {};
  unreachable = false;
  refusal = "";
  status = 400;
  /** The refused field; other changes are accepted. */
  param = "";
  readonly sent: Changes[] = [];

  async read(): Promise<Answer<Settings>> {
    return this.unreachable ? { kind: "unreachable" } : { kind: "ok", value: this.settings as Settings };
  }

  async change(changes: Changes): Promise<Answer<Settings>> {
    if (this.unreachable) return { kind: "unreachable" };
    const { param } = this;
    const concerned = param === "" || param.split(".").reduce<unknown>((value, step) => (value as Plain | undefined)?.[step], changes) !== undefined;
    if (this.refusal && concerned) return { kind: "refused", message: this.refusal, code: "bad", status: this.status, ...(param === "" ? {} : { param }) };
    this.sent.push(changes);
    this.settings = mergePatch(this.settings, changes as Plain) as Plain;
    return { kind: "ok", value: this.settings as Settings };
  }
}

function made(storage = new MemoryStorage(), server = new FakeSettings()) {
  const clock = new FakeClock();
  const complaints: string[] = [];
  const preferences = new Preferences(storage, server, clock, (sentence) => complaints.push(sentence));
  const settle = async () => {
    clock.pass(1000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { preferences, clock, server, storage, complaints, settle };
}

describe("preferences", () => {
  it("hold at once and outlive a reload, even while the server is away", () => {
    const { preferences, storage, server } = made();
    server.unreachable = true;
    preferences.change({ page: { theme: "dark" }, options: { thinking: true, model: "big" } });
    const again = made(storage, server).preferences;
    expect(again.page).toEqual({ ...DEFAULTS, theme: "dark" });
    expect(again.options).toEqual({ thinking: true, model: "big" });
  });

  it("go to the server together when they follow each other", async () => {
    const { preferences, server, settle } = made();
    preferences.change({ page: { theme: "dark" } });
    preferences.change({ page: { text_size: "large" }, system: "Be brief." });
    await settle();
    expect(server.sent).toEqual([{ page: { theme: "dark", text_size: "large" }, system: "Be brief." }]);
  });

  it("are on their way at once, and what follows soon after goes together", async () => {
    const { preferences, server, clock } = made();
    const breath = () => new Promise((resolve) => setImmediate(resolve));
    preferences.change({ page: { theme: "dark" } });
    clock.pass(0);
    await breath();
    expect(server.sent).toEqual([{ page: { theme: "dark" } }]);
    preferences.change({ system: "B" });
    clock.pass(100);
    preferences.change({ system: "Be" });
    clock.pass(400);
    await breath();
    expect(server.sent.slice(1)).toEqual([{ system: "Be" }]);
  });

  it("are sent by a page that goes away, and hold on the next one before that arrives", async () => {
    const { preferences, server, storage } = made();
    preferences.change({ page: { theme: "dark" } });
    preferences.flushOnExit();
    expect(server.settings).toEqual({ page: { theme: "dark" } });
    server.settings = {};
    const next = made(storage, server);
    await next.preferences.load();
    expect(next.preferences.page.theme).toBe("dark");
    await next.settle();
    expect(server.settings).toEqual({ page: { theme: "dark" } });
  });

  it("are not sent once more by the next page when they arrived and were changed elsewhere since", async () => {
    const { preferences, server, storage, settle } = made();
    server.settings = { page: { theme: "system", text_size: "small" } };
    await preferences.load();
    preferences.change({ page: { theme: "dark", text_size: "large" } });
    preferences.flushOnExit();
    server.settings = { page: { theme: "light", text_size: "small" } };
    const next = made(storage, server);
    await next.preferences.load();
    expect(next.preferences.page).toMatchObject({ theme: "light", text_size: "large" });
    await next.settle();
    expect(server.settings).toEqual({ page: { theme: "light", text_size: "large" } });
    await settle();
  });

  it("of a page before never undo what was changed on this one before the server answered", async () => {
    const { preferences, server, storage } = made();
    preferences.change({ page: { shortcuts: { "toggle-sidebar": "Ctrl+Alt+J" } } });
    preferences.flushOnExit();
    const next = made(storage, server);
    next.preferences.change({ page: { shortcuts: null } });
    await next.preferences.load();
    expect(next.preferences.page.shortcuts).toEqual({});
    await next.settle();
    expect(server.settings).toEqual({ page: {} });
  });

  it("tell the server where the browser is, once, and are saved no more than before by that", async () => {
    const { preferences, server } = made();
    server.settings = { page: { theme: "dark" }, zone: "UTC" };
    await preferences.load();
    await preferences.setTimeZone("Europe/Berlin");
    expect(server.settings).toEqual({ page: { theme: "dark" }, zone: "Europe/Berlin" });
    server.settings = {};
    await preferences.setTimeZone("Europe/Berlin");
    await preferences.setTimeZone("");
    expect(server.settings).toEqual({});
    expect(preferences.saving).toBe("untouched");
    expect(preferences.page.theme).toBe("dark");
  });

  it("are not taken back by an older answer about where the browser is", async () => {
    const { preferences, server, storage, settle } = made();
    const change = server.change.bind(server);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    server.change = async (changes) => {
      const answer = await change(changes);
      if ("zone" in changes) await held;
      return answer;
    };
    const zone = preferences.setTimeZone("Europe/Berlin");
    preferences.change({ page: { shortcuts: { sidebar: "Mod+Alt+J" } } });
    await settle();
    release();
    await zone;
    expect(preferences.page.shortcuts).toEqual({ sidebar: "Mod+Alt+J" });
    // Nor for the page after a reload, before the server has answered.
    expect(made(storage, server).preferences.page.shortcuts).toEqual({ sidebar: "Mod+Alt+J" });
  });

  it("wait for a server that is in trouble, and are sent again", async () => {
    const { preferences, server, complaints, clock, settle } = made();
    server.refusal = "The database is busy.";
    server.status = 503;
    preferences.change({ page: { theme: "dark" } });
    await settle();
    expect([complaints, preferences.saving, preferences.page.theme]).toEqual([[], "waiting", "dark"]);
    server.refusal = "";
    clock.pass(5000);
    await settle();
    expect(server.settings).toEqual({ page: { theme: "dark" } });
  });

  it("come from the server on another device", async () => {
    const { preferences, server } = made();
    server.settings = { page: { theme: "light" }, options: { sampling: { temperature: 0.2 } } };
    await preferences.load();
    expect(preferences.page.theme).toBe("light");
    expect(preferences.options).toEqual({ sampling: { temperature: 0.2 } });
  });

  it("send what was changed while the server was away, once it is back", async () => {
    const { preferences, server, settle } = made();
    server.unreachable = true;
    preferences.change({ page: { theme: "dark" } });
    await settle();
    server.unreachable = false;
    await preferences.load();
    await settle();
    expect(server.settings).toEqual({ page: { theme: "dark" } });
  });

  it("lie over the operator's first values, and go back to them", async () => {
    const { preferences, settle } = made();
    preferences.defaults = { page: { text_size: "large" }, system: "Speak plainly." };
    preferences.change({ page: { text_size: "small" } });
    expect(preferences.page.text_size).toBe("small");
    preferences.change({ page: { text_size: null } });
    expect(preferences.page.text_size).toBe("large");
    expect(preferences.system).toBe("Speak plainly.");
    await settle();
    expect(preferences.own).toEqual({ page: {} });
  });

  it("say when the server will not keep something, and let it go", async () => {
    const { preferences, server, complaints, settle } = made();
    server.refusal = "Too large.";
    preferences.change({ system: "x" });
    await settle();
    expect(complaints).toEqual(["Too large."]);
    expect(preferences.own).toEqual({});
  });

  it("lose only what the server names when it refuses, and keep the sentence for its field", async () => {
    const { preferences, server, settle } = made();
    server.refusal = "options.sampling.top_p must be from 0 to 1.";
    server.param = "options.sampling.top_p";
    preferences.change({ options: { sampling: { top_p: 7, temperature: 0.3 } }, page: { theme: "dark" } });
    await settle();
    expect(preferences.refusal).toEqual({ message: server.refusal, param: server.param });
    await settle();
    expect(server.settings).toEqual({ options: { sampling: { temperature: 0.3 } }, page: { theme: "dark" } });
    expect(preferences.own).toEqual(server.settings);
    preferences.change({ system: "x" });
    expect(preferences.refusal).toBeNull();
  });

  it("say how far a change is", async () => {
    const { preferences, server, settle } = made();
    expect(preferences.saving).toBe("untouched");
    preferences.change({ system: "x" });
    expect(preferences.saving).toBe("saving");
    await settle();
    expect(preferences.saving).toBe("saved");
    server.unreachable = true;
    preferences.change({ system: "y" });
    await settle();
    expect(preferences.saving).toBe("waiting");
    server.unreachable = false;
    await preferences.load();
    await settle();
    expect(preferences.saving).toBe("saved");
    expect(server.settings).toEqual({ system: "y" });
  });

  it("that are changed while others are on their way go too", async () => {
    const { preferences, server, clock, settle } = made();
    preferences.change({ system: "x" });
    clock.pass(1000);
    preferences.change({ page: { theme: "dark" } });
    await settle();
    await settle();
    expect(server.settings).toEqual({ system: "x", page: { theme: "dark" } });
    expect(preferences.saving).toBe("saved");
  });

  it("of earlier versions are taken along", async () => {
    const storage = new MemoryStorage();
    storage.put("duologue.preferences", JSON.stringify({ theme: "dark", thinking: true, model: "big" }));
    const { preferences, server, settle } = made(storage);
    expect(preferences.page.theme).toBe("dark");
    await preferences.load();
    await settle();
    expect(server.settings).toEqual({ page: { theme: "dark" }, options: { thinking: true, model: "big" } });
  });

  it.each(["{", "null", "[]", '{"page":{"theme":"plaid","streaming":7,"shortcuts":null}}'])("fall back to their first values on %s", (stored) => {
    const storage = new MemoryStorage();
    storage.put("duologue.preferences", stored);
    expect(made(storage).preferences.page).toEqual(DEFAULTS);
  });
});

describe("what the server had", () => {
  it("is dropped when it arrives after a newer change", async () => {
    const { preferences, server, settle } = made();
    let come: (answer: Answer<Settings>) => void = () => {};
    server.read = () => new Promise((resolve) => (come = resolve));
    const loading = preferences.load();
    preferences.change({ page: { theme: "dark" } });
    await settle();
    expect(preferences.saving).toBe("saved");
    come({ kind: "ok", value: { page: { theme: "light" } } });
    await loading;
    expect(preferences.page.theme).toBe("dark");
  });
});
