import { expect, it } from "vitest";

import { samplePose } from "../../../src/voice/face/sample_pose";

it("speaks, blinks and closes its mouth again", () => {
  const poses = Array.from({ length: 500 }, (_, index) => samplePose(index / 100));
  expect(Math.max(...poses.map(({ open = 0 }) => open))).toBeGreaterThan(0.8);
  expect(Math.max(...poses.map(({ blink = 0 }) => blink))).toBeGreaterThan(0.9);
  expect(Math.max(...poses.map(({ press = 0 }) => press))).toBe(1);
  expect(samplePose(4).open).toBe(0);
  expect(samplePose(2).turn).toBeCloseTo(samplePose(7).turn!, 9);
});

it("is a still mouth for people who want no motion", () => {
  expect(samplePose(1, true)).toEqual(samplePose(2.5, true));
});
