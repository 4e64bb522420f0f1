import { describe, expect, it } from "vitest";

import { CLEAR_BYTES, FramePacer, type FrameRate } from "../../../src/voice/video/frame_pacer";

/** A pacer whose frames are named by the time at which they were taken. */
class Pacing {
  readonly pacer: FramePacer<number>;
  at = 0;
  buffered = 0;
  readonly taken: number[] = [];
  readonly sent: (readonly [frame: number, at: number])[] = [];

  constructor(rate: FrameRate = 1) {
    this.pacer = new FramePacer(rate);
  }

  /** Asks every 20 ms, as audio does, until `until`. */
  run(until: number): this {
    for (; this.at < until; this.at += 20) {
      const { take, send } = this.pacer.next(this.at, this.buffered);
      if (send !== null) this.sent.push([send, this.at]);
      if (take) {
        this.taken.push(this.at);
        this.pacer.add(this.at);
      }
    }
    return this;
  }
}

describe("frames", () => {
  it("are taken at once and then at the rate", () => {
    const pacing = new Pacing(2);
    pacing.pacer.start(0);
    pacing.run(2000);
    expect(pacing.taken).toEqual([0, 500, 1000, 1500]);
    expect(pacing.sent.map(([frame]) => frame)).toEqual([0, 500, 1000, 1500]);
  });

  it("are not taken before the start and after the end", () => {
    const pacing = new Pacing().run(1000);
    pacing.pacer.start(1000);
    pacing.run(1020);
    pacing.pacer.stop();
    pacing.run(5000);
    expect([pacing.taken, pacing.sent]).toEqual([[1000], []]);
  });

  it("come sooner once the rate is higher", () => {
    const pacing = new Pacing(1);
    pacing.pacer.start(0);
    pacing.run(200);
    pacing.pacer.setRate(4, 200);
    expect(pacing.run(1000).taken).toEqual([0, 460, 700, 960]);
  });

  it("that were missed while the page slept are not made up for", () => {
    const pacing = new Pacing(4);
    pacing.pacer.start(0);
    pacing.run(300);
    pacing.at = 10_000;
    expect(pacing.run(10_600).taken).toEqual([0, 260, 10_000, 10_260, 10_500]);
  });

  it("are taken one at a time", () => {
    const { pacer } = new Pacing(4);
    pacer.start(0);
    expect(pacer.next(0, 0).take).toBe(true);
    expect(pacer.next(2000, 0).take).toBe(false);
    pacer.missed();
    expect(pacer.next(2020, 0)).toEqual({ take: true, send: null });
  });

  it("that arrive after the end are ignored", () => {
    const { pacer } = new Pacing();
    pacer.start(0);
    pacer.next(0, 0);
    pacer.stop();
    pacer.add(1);
    pacer.start(100);
    expect(pacer.next(100, 0).send).toBe(null);
  });
});

describe("a slow network", () => {
  it("has at most one frame to come, the newest", () => {
    const pacing = new Pacing(4);
    pacing.buffered = CLEAR_BYTES + 1;
    pacing.pacer.start(0);
    pacing.run(1000);
    expect([pacing.sent, pacing.pacer.skipped]).toEqual([[], 3]);
    pacing.buffered = 0;
    expect(pacing.run(1020).sent).toEqual([[760, 1000]]);
    expect(pacing.pacer.skipped).toBe(3);
  });

  it("takes a frame and then audio for as long, before the next one", () => {
    const pacing = new Pacing(4);
    pacing.pacer.start(0);
    pacing.run(40);
    expect(pacing.sent).toEqual([[0, 20]]);
    pacing.buffered = 100_000;
    pacing.run(1020);
    pacing.buffered = 0;
    pacing.run(3000);
    expect(pacing.sent[1]![1]).toBeGreaterThanOrEqual(2000);
    expect(pacing.sent[1]![1]).toBeLessThan(2100);
  });

  it("that broke takes nothing of the old connection along", () => {
    const pacing = new Pacing(1);
    pacing.buffered = 100_000;
    pacing.pacer.start(0);
    pacing.run(500);
    pacing.pacer.forget();
    pacing.buffered = 0;
    expect(pacing.run(1100).sent).toEqual([[1000, 1020]]);
  });
});
