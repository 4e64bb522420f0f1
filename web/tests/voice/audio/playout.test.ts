import { describe, expect, it } from "vitest";

import { Playout, type PlayoutReport } from "../../../src/voice/audio/playout";

const SECOND = 24000;

/** An output at 24 kHz, so that input samples can be found in the output. */
function speaker(rate = SECOND) {
  const reports: PlayoutReport[] = [];
  const playout = new Playout(rate, (report) => reports.push(report));
  const heard: number[] = [];
  return {
    playout,
    reports,
    heard,
    last: (reply = 1) => reports.findLast((report) => report.reply === reply),
    push: (reply: number, samples: number, value = 16384) => playout.handle({ kind: "push", reply, pcm: new Int16Array(samples).fill(value) }),
    ramp: (reply: number, from: number, samples: number) => playout.handle({ kind: "push", reply, pcm: Int16Array.from({ length: samples }, (_, at) => from + at) }),
    order: (kind: "begin" | "end" | "hold" | "resume" | "drop", reply = 1) => playout.handle({ kind, reply }),
    run(milliseconds: number) {
      for (let frames = 0; frames < (rate * milliseconds) / 1000; frames += 128) {
        const block = new Float32Array(128);
        playout.render(block);
        heard.push(...block);
      }
    },
  };
}

describe("a reply", () => {
  it("is heard whole, and its samples are counted exactly", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, 10_000);
    it.order("end");
    it.run(600);
    expect(it.last()).toMatchObject({ samples: 10_000, state: "ended" });
    expect(it.heard.filter((value) => value > 0.49).length).toBeGreaterThan(9800);
  });

  it.each([44100, 48000, 16000])("is counted in its own samples on a loudspeaker of %i Hz", (rate) => {
    const it = speaker(rate);
    it.order("begin");
    it.push(1, SECOND);
    it.order("end");
    it.run(500);
    expect(it.last()!.samples).toBeGreaterThan(SECOND * 0.4);
    expect(it.last()!.samples).toBeLessThan(SECOND * 0.5);
    it.run(700);
    expect(it.last()).toMatchObject({ samples: SECOND, state: "ended" });
  });

  it("starts when a little of it has arrived, or all of it", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, 480);
    it.run(20);
    expect(it.heard.every((value) => value === 0)).toBe(true);
    it.push(1, 960);
    it.run(20);
    expect(it.heard.some((value) => value > 0.4)).toBe(true);
    const brief = speaker();
    brief.order("begin");
    brief.push(1, 100);
    brief.order("end");
    brief.run(20);
    expect(brief.last()).toMatchObject({ samples: 100, state: "ended" });
  });

  it("without a sound ends at once", () => {
    const it = speaker();
    it.order("begin");
    it.order("end");
    it.run(10);
    expect(it.last()).toMatchObject({ samples: 0, state: "ended" });
  });

  it.each([24000, 48000])("that has run dry lets another one play and continues after it (%i Hz)", (rate) => {
    const it = speaker(rate);
    it.order("begin");
    it.push(1, 4800);
    it.run(300);
    it.order("begin", 2);
    it.push(2, 4800, 8192);
    it.order("end", 2);
    it.run(300);
    expect(it.last(2)).toMatchObject({ samples: 4800, state: "ended" });
    it.push(1, 4800);
    it.order("end");
    it.run(400);
    expect(it.last()).toMatchObject({ samples: 9600, state: "ended" });
  });

  it("that runs dry waits for more, without a click, and loses nothing", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, 2400);
    it.run(300);
    expect(it.last()).toMatchObject({ state: "starved", samples: 2400 });
    const steps = it.heard.map((value, at) => Math.abs(value - (it.heard[at - 1] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(0.05);
    it.push(1, 2400);
    it.order("end");
    it.run(300);
    expect(it.last()).toMatchObject({ state: "ended", samples: 4800 });
  });

  it("gathers more the next time once it ran dry", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, 1200);
    it.run(200);
    it.push(1, 1200);
    it.run(100);
    expect(it.last()!.samples).toBe(1200);
    it.push(1, 1200);
    it.run(60);
    expect(it.last()!.samples).toBeGreaterThan(1200);
  });

  it("is reported every 20 ms while it plays", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, SECOND);
    it.run(500);
    const playing = it.reports.filter(({ state }) => state === "playing").length;
    expect(playing).toBeGreaterThan(18);
    expect(playing).toBeLessThan(26);
  });

  it("follows the one before it", () => {
    const it = speaker();
    for (const reply of [1, 2]) {
      it.order("begin", reply);
      it.push(reply, 4800);
      it.order("end", reply);
    }
    it.run(500);
    expect(it.reports.filter(({ state }) => state === "ended").map(({ reply, samples }) => [reply, samples])).toEqual([
      [1, 4800],
      [2, 4800],
    ]);
  });
});

describe("holding", () => {
  it("fades out within 50 ms, keeps the rest and continues with the next sample", () => {
    const it = speaker();
    it.order("begin");
    it.ramp(1, 1000, 20_000);
    it.run(200);
    it.order("hold");
    const before = it.heard.length;
    it.run(50);
    it.run(300);
    expect(it.last()).toMatchObject({ state: "held" });
    const held = it.last()!.samples;
    expect(it.heard.slice(before + 1200).every((value) => Math.abs(value) < 0.001)).toBe(true);
    it.order("resume");
    const resumed = it.heard.length;
    it.run(100);
    // The input is a ramp: after the fade-in its value tells which sample is audible.
    const at = resumed + 1500;
    const sample = Math.round(it.heard[at]! * 32768) - 1000;
    const started = it.heard.findIndex((value, index) => index >= resumed && Math.abs(value) > 0.0001);
    expect(Math.abs(sample - (held + (at - started)))).toBeLessThan(3);
  });

  it("counts what was heard until then, and no more", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, SECOND);
    it.run(300);
    it.order("hold");
    it.run(100);
    const { samples } = it.last()!;
    it.run(1000);
    expect(it.last()!.samples).toBe(samples);
    expect(samples).toBeLessThan(SECOND * 0.33);
  });

  it("that is taken back at once is hardly heard", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, SECOND);
    it.run(100);
    it.order("hold");
    it.run(6);
    it.order("resume");
    it.run(100);
    expect(it.reports.some(({ state }) => state === "held")).toBe(false);
    expect(it.heard.at(-1)).toBeCloseTo(0.5);
  });

  it("delays a reply that has not started", () => {
    const it = speaker();
    it.order("begin");
    it.order("hold");
    it.push(1, SECOND);
    it.run(300);
    expect(it.heard.every((value) => value === 0)).toBe(true);
    it.order("resume");
    it.run(100);
    expect(it.heard.at(-1)).toBeCloseTo(0.5);
  });

  it("of another reply changes nothing", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, SECOND);
    it.run(100);
    it.order("resume", 1);
    it.order("hold", 7);
    it.run(100);
    expect(it.heard.at(-1)).toBeCloseTo(0.5);
  });
});

describe("dropping", () => {
  it("fades out within 10 ms, discards the rest and reports what was played", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, SECOND);
    it.run(200);
    it.order("drop");
    const before = it.heard.length;
    it.run(100);
    expect(it.last()).toMatchObject({ state: "dropped" });
    expect(it.last()!.samples).toBeLessThan(SECOND * 0.22);
    expect(it.heard.slice(before + 512).every((value) => value === 0 || Math.abs(value) < 0.001)).toBe(true);
    it.push(1, SECOND);
    it.run(100);
    expect(it.heard.at(-1)).toBeCloseTo(0);
  });

  it("makes room for the next reply", () => {
    const it = speaker();
    it.order("begin");
    it.push(1, SECOND);
    it.run(100);
    it.order("drop");
    it.order("begin", 2);
    it.push(2, 4800);
    it.order("end", 2);
    it.run(400);
    expect(it.last(2)).toMatchObject({ samples: 4800, state: "ended" });
  });

  it("of a held or unstarted reply is immediate", () => {
    const it = speaker();
    it.order("begin");
    it.order("drop");
    expect(it.last()).toMatchObject({ samples: 0, state: "dropped" });
    it.order("begin", 2);
    it.push(2, SECOND);
    it.run(100);
    it.order("hold", 2);
    it.run(100);
    it.order("drop", 2);
    expect(it.last(2)!.state).toBe("dropped");
  });
});

describe("what is on its way to the ear", () => {
  it("is not counted before it is heard, and in the end it is", () => {
    const it = speaker();
    it.playout.handle({ kind: "latency", frames: 4800 });
    it.order("begin");
    it.push(1, 12_000);
    it.order("end");
    it.run(400);
    expect(it.last()!.samples).toBeLessThan(9600 - 4500);
    it.run(400);
    expect(it.last()).toMatchObject({ samples: 12_000, state: "ended" });
  });
});
