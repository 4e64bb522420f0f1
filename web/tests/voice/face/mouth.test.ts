import { expect, test } from "vitest";
import { mouthAt, type MouthKey, REST } from "../../../src/voice/face/mouth";
import { mouthPose } from "../../../src/voice/face/pose";

const CURVE: MouthKey[] = [
  [100, 20, 0, 0, 0, 0],
  [200, 100, -40, 0, 0, 0],
  [300, 0, 0, 100, 0, 0],
];

test("between two keys the mouth changes in a straight line", () => {
  expect(mouthAt(CURVE, 150)).toMatchObject({ open: 0.6, wide: -0.2 });
  expect(mouthAt(CURVE, 250)).toMatchObject({ press: 0.5 });
});

test("before the first and after the last key the mouth rests", () => {
  expect(mouthAt(CURVE, 99)).toBe(REST);
  expect(mouthAt(CURVE, 301)).toBe(REST);
  expect(mouthAt([], 0)).toBe(REST);
  expect(mouthAt(CURVE, 300)).toMatchObject({ press: 1 });
});

test("rounded and spread lips are two parts of a pose", () => {
  expect(mouthPose({ ...REST, wide: -0.5 })).toMatchObject({ wide: 0, round: 0.5 });
  expect(mouthPose({ ...REST, wide: 0.5 })).toMatchObject({ wide: 0.5, round: 0 });
});
