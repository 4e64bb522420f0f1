import { beforeEach, describe, expect, it } from "vitest";

import { StoredVoice } from "../../src/voice/stored_voice";

let chosen: string;
let voices: readonly string[];
let asked: number;
let said: string[];
let stored: StoredVoice;

beforeEach(() => {
  chosen = "anna";
  voices = ["anna", "ben"];
  asked = 0;
  said = [];
  const fetch = async () => (asked++, Response.json({ voices: voices.map((id) => ({ id, name: id, language: "en", description: "" })), custom: [{ id: "voice_1", name: "Me" }], default: "ben" }));
  stored = new StoredVoice({ fetch, chosen: () => chosen, sayReplaced: (voice) => void said.push(voice) });
});

describe("the voice that was chosen", () => {
  it("begins a call while the server has it", async () => {
    expect(await stored.usable()).toBe("anna");
    expect(said).toEqual([]);
  });

  it("may be one that was recorded", async () => {
    chosen = "voice_1";
    expect(await stored.usable()).toBe("voice_1");
    chosen = "voice_2";
    expect(await stored.usable()).toBe("");
    expect(said).toEqual(["voice_2"]);
  });

  it("is replaced by the server's default when its pack is gone, and that is said once", async () => {
    voices = ["ben"];
    expect(await stored.usable()).toBe("");
    expect(await stored.usable()).toBe("");
    stored.onReplaced("anna");
    expect(said).toEqual(["anna"]);
  });

  it("is not asked about where none was chosen", async () => {
    chosen = "";
    expect(await stored.usable()).toBe("");
    expect(asked).toBe(0);
  });

  it("is kept where the server does not list voices or does not answer", async () => {
    voices = [];
    expect(await stored.usable()).toBe("anna");
    stored = new StoredVoice({ fetch: () => Promise.reject(new TypeError("failed")), chosen: () => chosen, sayReplaced: (voice) => void said.push(voice) });
    expect(await stored.usable()).toBe("anna");
    expect(said).toEqual([]);
  });
});
