import { expect, it } from "vitest";

import { insideSize, mouthInside, POINT } from "../../../../src/voice/face/picture/mouth_inside";
import { buildWarp, warped } from "../../../../src/voice/face/picture/warp";
import type { Landmarks } from "../../../../src/wire/voice/avatars";

const MARKS: Landmarks = {
  left_eye: { outer: [0.33, 0.46], inner: [0.45, 0.46], upper: [0.39, 0.43], lower: [0.39, 0.49] },
  right_eye: { outer: [0.67, 0.46], inner: [0.55, 0.46], upper: [0.61, 0.43], lower: [0.61, 0.49] },
  mouth_left: [0.41, 0.68],
  mouth_right: [0.59, 0.68],
  mouth_top: [0.5, 0.65],
  mouth_bottom: [0.5, 0.72],
  lips: [0.5, 0.685],
  chin: [0.5, 0.84],
};

it("shows nothing between closed lips, and a strip that fills the gap between open ones", () => {
  const warp = buildWarp(MARKS, 1);
  const points = new Float32Array(warp.rest.length);
  const strip = new Float32Array(insideSize(warp));
  warped(warp, {}, points);
  expect(mouthInside(warp, points, strip)).toBe(0);
  warped(warp, { open: 1 }, points);
  const widest = mouthInside(warp, points, strip);
  expect(widest).toBeGreaterThan(0.4);
  expect(widest).toBeLessThan(0.6);
  expect([...strip].every(Number.isFinite)).toBe(true);
  // The first and the last column are the corners, where both lips are one point.
  expect(strip.slice(0, 2)).toEqual(strip.slice(POINT, POINT + 2));
  expect([strip[2], strip[strip.length - POINT + 2]]).toEqual([-1, 1]);
});
