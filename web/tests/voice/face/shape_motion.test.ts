import { expect, test } from "vitest";

import type { Shape } from "../../../src/voice/face/look";
import { type Pose, PARTS, posed } from "../../../src/voice/face/pose";
import { type Matrix, ShapeMotion, weigh } from "../../../src/voice/face/shape_motion";

const POINTS = [0, 0, 10, 0, 10, 20, 0, 20];
const each = (points: readonly number[], move: (x: number, y: number) => readonly [number, number]) => points.flatMap((x, at) => (at % 2 === 0 ? move(x, points[at + 1]!) : []));
const shape = (moves: Shape["moves"], points = POINTS): Shape => ({ id: "a", steps: ["M", "L", "L", "L", "Z"], points, ...(moves ? { moves } : {}) });
const weights = (pose: Pose) => {
  const found = new Float64Array(PARTS.length);
  weigh(pose, found);
  return found;
};
const applied = ([a, b, c, d, e, f]: Matrix, points: Iterable<number>) => each([...points], (x, y) => [a! * x + c! * y + e!, b! * x + d! * y + f!]);

test("motions of the whole become a matrix with the same points", () => {
  const tilted = shape({ turn: each(POINTS, () => [5, 0]), tilt: each(POINTS, (x, y) => [-0.1 * (y - 30), 0.1 * (x - 5)]) });
  const motion = new ShapeMotion(tilted);
  const pose = { turn: 0.5, tilt: -0.7 };
  expect(motion.bend(weights(pose))).toBe(false);
  const points = applied(motion.matrix(weights(pose)), motion.outline);
  posed(tilted, pose).forEach((value, at) => expect(points[at]).toBeCloseTo(value, 3));
});

test("a bend needs a new outline, and says when it is the same again", () => {
  const bent = new ShapeMotion(shape({ open: [0, 0, 0, 0, 0, 9, 0, 0], turn: each(POINTS, () => [5, 0]) }));
  expect(bent.bend(weights({ open: 1, turn: 1 }))).toBe(true);
  expect([...bent.outline]).toEqual([0, 0, 10, 0, 10, 29, 0, 20]);
  expect(bent.bend(weights({ open: 0.5 }))).toBe(true);
  expect(bent.bend(weights({ open: 0.5001, turn: 1 }))).toBe(false);
  expect([...bent.outline]).toEqual([0, 0, 10, 0, 10, 24.5, 0, 20]);
  expect(bent.bend(weights({ open: 0.6 }))).toBe(true);
  expect(bent.bend(weights({}))).toBe(true);
  expect([...bent.outline]).toEqual(POINTS);
});

test("a bend that moves every point by less than a tenth of a unit is not drawn anew", () => {
  const bent = new ShapeMotion(shape({ open: [0, 0, 0, 0, 0, 1, 0, 0] }));
  bent.bend(weights({ open: 0.5 }));
  expect(bent.bend(weights({ open: 0.53 }))).toBe(false);
  expect(bent.bend(weights({ open: 0.66 }))).toBe(true);
});

test("straight lines and single places move as a whole, too", () => {
  const line = [5, 0, 5, 20];
  const motion = new ShapeMotion({ ...shape({ tilt: each(line, (x, y) => [-0.1 * y, 0.1 * x]) }, line), steps: ["M", "L"] });
  const points = applied(motion.matrix(weights({ tilt: 1 })), line);
  [5, 0.5, 3, 20.5].forEach((value, at) => expect(points[at]).toBeCloseTo(value, 2));
  expect(motion.bend(weights({ tilt: 1 }))).toBe(false);
});
