import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { stayAwake } from "../../../src/voice/call/awake";
import { calm } from "../../server";

let page: EventTarget & { visibilityState: string };
let done: string[];

beforeEach(() => {
  done = [];
  page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  vi.stubGlobal("document", page);
  vi.stubGlobal("navigator", { wakeLock: { request: async () => (done.push("taken"), { release: async () => void done.push("released") }) } });
});

afterEach(() => vi.unstubAllGlobals());

async function look(state: string): Promise<void> {
  page.visibilityState = state;
  page.dispatchEvent(new Event("visibilitychange"));
  await calm();
}

describe("the screen during a call", () => {
  it("stays on, and again when the page is looked at again, until it is over", async () => {
    const end = stayAwake();
    await calm();
    await look("hidden");
    expect(done).toEqual(["taken"]);
    await look("visible");
    expect(done).toEqual(["taken", "taken", "released"]);
    end();
    await look("visible");
    expect(done).toEqual(["taken", "taken", "released", "released"]);
  });

  it("is let go though the browser gave it only when all was over", async () => {
    stayAwake()();
    await calm();
    expect(done).toEqual(["taken", "released"]);
  });

  it("is the browser's business where it cannot, or will not", async () => {
    vi.stubGlobal("navigator", {});
    stayAwake()();
    vi.stubGlobal("navigator", { wakeLock: { request: async () => Promise.reject(new Error()) } });
    stayAwake()();
    await calm();
    expect(done).toEqual([]);
  });
});
