import { describe, expect, it } from "vitest";

import { Colourist } from "../../src/markdown/colourist";

class Worker extends EventTarget {
  asked: { id: number; code: string; label: string }[] = [];

  postMessage(wanted: { id: number; code: string; label: string }): void {
    this.asked.push(wanted);
  }

  answer(id: number, pieces: number[] | null): void {
    this.dispatchEvent(new MessageEvent("message", { data: { id, pieces } }));
  }
}

function begun() {
  const worker = new Worker();
  let started = 0;
  const colourist = new Colourist(() => (started++, worker as unknown as globalThis.Worker));
  return { worker, colourist, started: () => started };
}

describe("asking for colours", () => {
  it("starts one worker, and gives each block its own answer", async () => {
    const { worker, colourist, started } = begun();
    const [first, second] = [colourist.colour("a", "js"), colourist.colour("b", "py")];
    worker.answer(2, [1, 0]);
    worker.answer(1, [1, 1]);
    expect([await first, await second]).toEqual([[1, 1], [1, 0]]);
    expect(started()).toBe(1);
  });

  it("asks nobody about a language that is none of ours", async () => {
    const { colourist, started } = begun();
    expect(await colourist.colour("a", "klingon")).toBeNull();
    expect(started()).toBe(0);
  });

  it("leaves code plain where the worker fails, or there is none", async () => {
    const { worker, colourist } = begun();
    const asked = colourist.colour("a", "js");
    worker.dispatchEvent(new Event("error"));
    expect(await asked).toBeNull();
    const none = new Colourist(() => {
      throw new Error("no worker here");
    });
    expect(await none.colour("a", "js")).toBeNull();
  });
});
