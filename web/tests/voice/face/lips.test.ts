import { beforeEach, describe, expect, it } from "vitest";

import { Lips } from "../../../src/voice/face/lips";
import { type MouthKey, REST } from "../../../src/voice/face/mouth";
import type { PlayoutState } from "../../../src/voice/audio/playout";

/** Opens from 0 to 1 in a second, and rests after two. */
const CURVE: MouthKey[] = [
  [0, 0, 0, 0, 0, 0],
  [24_000, 100, 0, 0, 0, 0],
  [48_000, 0, 0, 0, 0, 0],
];

let now: number;
let lips: Lips;

beforeEach(() => {
  now = 1000;
  lips = new Lips(() => now);
  lips.add(1, CURVE);
});

const report = (samples: number, state: PlayoutState = "playing", reply = 1) => lips.onReport({ reply, samples, state, level: 0.1 });

describe("while a reply is audible", () => {
  it("the mouth is that of the audible sample", () => {
    report(12_000);
    expect(lips.mouth().open).toBeCloseTo(0.5);
  });

  it("between two reports it goes on with the clock, but not beyond what is surely audible", () => {
    report(12_000);
    now += 16;
    expect(lips.mouth().open).toBeCloseTo(0.5 + 0.016);
    now += 5000;
    expect(lips.mouth().open).toBeCloseTo(0.5 + 0.04);
  });

  it("keys may arrive while it is, and twice", () => {
    lips.add(2, CURVE.slice(0, 2));
    report(12_000, "playing", 2);
    lips.add(2, CURVE);
    report(36_000, "playing", 2);
    expect(lips.mouth().open).toBeCloseTo(0.5);
  });

  it("a reply without keys has a mouth at rest", () => {
    report(12_000, "playing", 7);
    expect(lips.mouth()).toBe(REST);
  });

  it("what was spoken long ago is forgotten, and the rest is kept", () => {
    const long = Array.from({ length: 2000 }, (_, at): MouthKey => [at * 1000, at % 2 === 0 ? 0 : 100, 0, 0, 0, 0]);
    lips.add(3, long);
    report(1_001_000, "playing", 3);
    expect(lips.mouth().open).toBeCloseTo(1);
    report(1_990_500, "playing", 3);
    expect(lips.mouth().open).toBeCloseTo(0.5);
  });
});

describe("when the sound stops", () => {
  for (const state of ["held", "dropped", "starved", "ended"] as const)
    it(`the mouth closes within two frames (${state})`, () => {
      report(24_000);
      report(24_000, state);
      expect(lips.mouth().open).toBeCloseTo(1);
      now += 16;
      expect(lips.mouth().open).toBeLessThan(0.6);
      now += 18;
      expect(lips.mouth()).toBe(REST);
    });

  it("a second report of it does not open the mouth again", () => {
    report(24_000);
    report(24_000, "held");
    now += 500;
    report(24_000, "dropped");
    expect(lips.mouth()).toBe(REST);
  });

  it("a reply that goes on has its mouth at the same sample", () => {
    report(24_000, "held");
    now += 3000;
    report(24_000);
    expect(lips.mouth().open).toBeCloseTo(1);
  });

  it("an interruption here does not wait for the player, and late reports move nothing", () => {
    report(24_000);
    lips.stop();
    now += 34;
    expect(lips.mouth()).toBe(REST);
    report(24_200);
    expect(lips.mouth()).toBe(REST);
  });
});

it("with a new connection nothing of the old one is left", () => {
  report(24_000);
  lips.reset();
  now += 34;
  report(12_000);
  expect(lips.mouth()).toBe(REST);
});

it("only the last replies are remembered", () => {
  for (let reply = 2; reply < 30; reply++) lips.add(reply, CURVE);
  report(24_000, "playing", 1);
  expect(lips.mouth()).toBe(REST);
  report(24_000, "playing", 29);
  expect(lips.mouth().open).toBeCloseTo(1);
});
