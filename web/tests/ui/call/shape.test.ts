import { describe, expect, it } from "vitest";

import { blend, edgeAt, type Mood, motionOf, perceivedLoudness } from "../../../src/ui/call/shape";

const MOODS: Mood[] = ["calling", "listening", "hearing", "thinking", "speaking", "paused", "waiting", "over"];

describe("the shape of a call", () => {
  it("looks different in each state, also where nothing moves", () => {
    const looks = MOODS.map((mood) => `${motionOf(mood).size} ${motionOf(mood).strength}`);
    expect(new Set(looks).size).toBe(MOODS.length);
  });

  it("never leaves its room", () => {
    for (const mood of MOODS) {
      for (let step = 0; step < 400; step++) {
        const far = edgeAt(step / 7, step / 3, motionOf(mood), (step % 11) / 10, step % 3);
        expect(far).toBeGreaterThan(0.1);
        expect(far).toBeLessThanOrEqual(1);
      }
    }
  });

  it("responds to loudness while someone can be heard", () => {
    const far = (mood: Mood, loud: number) => edgeAt(1, 1, motionOf(mood), loud, 1);
    for (const mood of ["listening", "hearing", "speaking"] as const) expect(far(mood, 1)).toBeGreaterThan(far(mood, 0));
    expect(far("thinking", 1)).toBe(far("thinking", 0));
  });

  it("goes from one state to another without a jump", () => {
    const half = blend(motionOf("paused"), motionOf("speaking"), 0.5);
    expect(half.size).toBeCloseTo((motionOf("paused").size + motionOf("speaking").size) / 2);
  });

  it("scales loudness logarithmically", () => {
    expect([perceivedLoudness(0), perceivedLoudness(0.0001), perceivedLoudness(1), perceivedLoudness(2)]).toEqual([0, 0, 1, 1]);
    expect(perceivedLoudness(0.1)).toBeCloseTo(2 / 3);
  });
});
