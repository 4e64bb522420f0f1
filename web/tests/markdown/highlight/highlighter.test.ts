import { describe, expect, it } from "vitest";

import { Highlighter } from "../../../src/markdown/highlight/highlighter";

class Worker extends EventTarget {
  requests: { id: number; code: string; label: string }[] = [];

  postMessage(request: { id: number; code: string; label: string }): void {
    this.requests.push(request);
  }

  answer(id: number, runs: number[] | null): void {
    this.dispatchEvent(new MessageEvent("message", { data: { id, runs } }));
  }
}

function begun() {
  const worker = new Worker();
  let started = 0;
  const highlighter = new Highlighter(() => (started++, worker as unknown as globalThis.Worker));
  return { worker, highlighter, started: () => started };
}

describe("the highlighter", () => {
  it("starts one worker, and gives each block its own answer", async () => {
    const { worker, highlighter, started } = begun();
    const [first, second] = [highlighter.highlight("a", "js"), highlighter.highlight("b", "py")];
    worker.answer(2, [1, 0]);
    worker.answer(1, [1, 1]);
    expect([await first, await second]).toEqual([[1, 1], [1, 0]]);
    expect(started()).toBe(1);
  });

  it("sends no request for an unknown language", async () => {
    const { highlighter, started } = begun();
    expect(await highlighter.highlight("a", "klingon")).toBeNull();
    expect(started()).toBe(0);
  });

  it("leaves code plain if the worker fails or cannot start", async () => {
    const { worker, highlighter } = begun();
    const requests = highlighter.highlight("a", "js");
    worker.dispatchEvent(new Event("error"));
    expect(await requests).toBeNull();
    const none = new Highlighter(() => {
      throw new Error("no worker here");
    });
    expect(await none.highlight("a", "js")).toBeNull();
  });
});
