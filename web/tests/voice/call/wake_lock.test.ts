import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { keepScreenOn } from "../../../src/voice/call/wake_lock";
import { settle } from "../../server";

let page: EventTarget & { visibilityState: string };
let done: string[];

beforeEach(() => {
  done = [];
  page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  vi.stubGlobal("document", page);
  vi.stubGlobal("navigator", { wakeLock: { request: async () => (done.push("taken"), { release: async () => void done.push("released") }) } });
});

afterEach(() => vi.unstubAllGlobals());

async function onVisibilityChange(state: string): Promise<void> {
  page.visibilityState = state;
  page.dispatchEvent(new Event("visibilitychange"));
  await settle();
}

describe("the screen during a call", () => {
  it("stays on, and again when the page is looked at again, until it is over", async () => {
    const end = keepScreenOn();
    await settle();
    await onVisibilityChange("hidden");
    expect(done).toEqual(["taken"]);
    await onVisibilityChange("visible");
    expect(done).toEqual(["taken", "taken", "released"]);
    end();
    await onVisibilityChange("visible");
    expect(done).toEqual(["taken", "taken", "released", "released"]);
  });

  it("is released even if granted after the end", async () => {
    keepScreenOn()();
    await settle();
    expect(done).toEqual(["taken", "released"]);
  });

  it("is the browser's business where it cannot, or will not", async () => {
    vi.stubGlobal("navigator", {});
    keepScreenOn()();
    vi.stubGlobal("navigator", { wakeLock: { request: async () => Promise.reject(new Error()) } });
    keepScreenOn()();
    await settle();
    expect(done).toEqual([]);
  });
});
