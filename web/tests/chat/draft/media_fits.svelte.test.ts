import { beforeEach, describe, expect, it } from "vitest";

import { MediaFits } from "../../../src/chat/draft/media_fits.svelte";
import type { MediaFit } from "../../../src/wire/chat/fits";
import type { Answer } from "../../../src/wire/transport/http";

const KEPT: MediaFit = { kind: "image", became: "kept", tokens: 300 };
let asked: string[];
let answer: Answer<MediaFit>;
let fits: MediaFits;

beforeEach(() => {
  asked = [];
  answer = { kind: "ok", value: KEPT };
  fits = new MediaFits(async (blob, model) => {
    asked.push(`${blob} ${model}`);
    return answer;
  });
});

describe("what a model gets of a file", () => {
  it("is asked once for each model", async () => {
    expect(fits.get("a", "one")).toBeNull();
    await Promise.all([fits.need("a", "one"), fits.need("a", "one")]);
    await fits.need("a", "two");
    await fits.need("a", "one");
    expect(asked).toEqual(["a one", "a two"]);
    expect([fits.get("a", "one"), fits.get("b", "one"), fits.get("a", undefined)]).toEqual([KEPT, null, null]);
  });

  it("is asked again when there was no answer", async () => {
    answer = { kind: "unreachable" };
    await fits.need("a", "one");
    expect(fits.get("a", "one")).toBeNull();
    answer = { kind: "ok", value: KEPT };
    await fits.need("a", "one");
    expect(fits.get("a", "one")).toEqual(KEPT);
  });

  it("does not grow for ever", async () => {
    for (let number = 0; number < 300; number++) await fits.need(`${number}`, "one");
    expect([fits.get("0", "one"), fits.get("299", "one")]).toEqual([null, KEPT]);
    await fits.need("0", "one");
    expect(fits.get("0", "one")).toEqual(KEPT);
  });

  it("has room for so much sound in one message, and the rest is named", async () => {
    const heard: MediaFit = { kind: "audio", became: "kept", seconds: 700, most_seconds: 1800 };
    const all: Readonly<Record<string, MediaFit>> = { a: heard, picture: KEPT, b: heard, long: heard, short: { ...heard, seconds: 300 }, words: { kind: "audio", became: "text", seconds: 9000 } };
    fits = new MediaFits(async (blob) => ({ kind: "ok", value: all[blob]! }));
    for (const blob of Object.keys(all)) await fits.need(blob, "one");
    const items = Object.keys(all).map((blob) => ({ key: `${blob}!`, blob }));
    expect(fits.beyondRoom(items, "one")).toEqual({ keys: new Set(["long!"]), seconds: 1800 });
    expect(fits.beyondRoom(items, "two")).toEqual({ keys: new Set(), seconds: 0 });
  });
});
