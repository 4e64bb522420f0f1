import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { FaceMotion, type FaceMood, motionAt } from "../../../src/voice/face/motion";
import { type Pose, posed } from "../../../src/voice/face/pose";
import type { Shape } from "../../../src/voice/face/look";

interface Examples {
  readonly posed: readonly { readonly shape: Shape; readonly pose: Pose; readonly points: readonly number[] }[];
  readonly motion: readonly { readonly seconds: number; readonly mood: FaceMood; readonly seed: number; readonly pose: Pose }[];
  readonly walks: readonly { readonly seed: number; readonly still: boolean; readonly steps: readonly { readonly mood: FaceMood; readonly elapsed: number; readonly count: number; readonly pose: Pose }[] }[];
}

// Written by the server's code, whose tests compare it with the same file.
const examples = JSON.parse(readFileSync(new URL("../../../../tests/faces/face_examples.json", import.meta.url), "utf8")) as Examples;

function alike(pose: Pose, expected: Pose): void {
  expect(Object.keys(pose).sort()).toEqual(Object.keys(expected).sort());
  for (const [part, value] of Object.entries(expected)) expect(pose[part as keyof Pose], part).toBeCloseTo(value, 4);
}

describe("the same as on the server", () => {
  it("are the points of shapes in a pose", () => {
    for (const { shape, pose, points } of examples.posed) {
      const moved = posed(shape, pose);
      expect(moved.length).toBe(points.length);
      moved.forEach((value, at) => expect(value).toBeCloseTo(points[at]!, 4));
    }
  });

  it("is the motion in each state", () => {
    expect(examples.motion.length).toBeGreaterThan(30);
    for (const { seconds, mood, seed, pose } of examples.motion) alike(motionAt(seconds, mood, seed), pose);
  });

  it("is a face that passes through several states", () => {
    for (const { seed, still, steps } of examples.walks) {
      const motion = new FaceMotion("calling", seed, still);
      for (const { mood, elapsed, count, pose } of steps) {
        let last: Pose = {};
        for (let step = 0; step < count; step++) last = motion.step(elapsed, mood);
        alike(last, pose);
      }
    }
  });
});

it("a face that waits long in the background makes one short step", () => {
  expect(new FaceMotion("listening", 4).step(90_000, "listening")).toEqual(new FaceMotion("listening", 4).step(100, "listening"));
});
