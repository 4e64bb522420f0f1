import { describe, expect, it } from "vitest";

import { PARTS } from "../../../../src/voice/face/pose";
import { lipLine, visiblePart } from "../../../../src/voice/face/picture/face_frame";
import { buildWarp, type Warp, warped } from "../../../../src/voice/face/picture/warp";
import type { Pose } from "../../../../src/voice/face/pose";
import type { Landmarks, MarkPoint } from "../../../../src/wire/voice/avatars";

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

/** The landmarks turned by an angle around the middle of the picture. */
function turned(marks: Landmarks, angle: number): Landmarks {
  const turn = (value: unknown): unknown =>
    Array.isArray(value)
      ? ([0.5 + (value[0] - 0.5) * Math.cos(angle) - (value[1] - 0.5) * Math.sin(angle), 0.5 + (value[0] - 0.5) * Math.sin(angle) + (value[1] - 0.5) * Math.cos(angle)] as MarkPoint)
      : Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, turn(inner)]));
  return turn(marks) as Landmarks;
}

function posed(warp: Warp, pose: Pose): Float32Array {
  const points = new Float32Array(warp.rest.length);
  warped(warp, pose, points);
  return points;
}

/** How far the point at rest nearest to [x, y] moves; of the lower half of the mouth if `isLower`. */
function moved(warp: Warp, pose: Pose, [x, y]: MarkPoint, isLower = false): [number, number] {
  const points = posed(warp, pose);
  let best = -1;
  let least = Infinity;
  for (let at = isLower ? warp.lips.lower * 2 : 0; at < (isLower ? warp.rest.length : warp.lips.lower * 2); at += 2) {
    const far = Math.hypot(warp.rest[at]! - x, warp.rest[at + 1]! - y);
    if (far < least) [best, least] = [at, far];
  }
  return [points[best]! - warp.rest[best]!, points[best + 1]! - warp.rest[best + 1]!];
}

/** How far the lips are apart in the middle of the mouth. */
function gap(warp: Warp, pose: Pose): number {
  const points = posed(warp, pose);
  const column = Math.round((warp.lips.first + warp.lips.last) / 2);
  return points[(warp.lips.lower + column) * 2 + 1]! - points[(warp.lips.upper + column) * 2 + 1]!;
}

describe("a picture's face", () => {
  const warp = buildWarp(MARKS, 1);

  it("is the picture itself at rest", () => {
    expect(posed(warp, {})).toEqual(warp.rest);
  });

  it("covers the whole picture, whatever the pose", () => {
    for (const part of PARTS) {
      const points = posed(warp, { [part]: 1 });
      for (let at = 0; at < points.length; at += 2) {
        const [x, y] = [warp.rest[at]!, warp.rest[at + 1]!];
        if (x > 0 && x < 1 && y > 0 && y < 1) continue;
        expect([points[at], points[at + 1]]).toEqual([x, y]);
      }
    }
  });

  it("has the line of the lips twice, along the mouth that was marked", () => {
    const { upper, lower, first, last } = warp.lips;
    for (let column = 0; column < warp.columns; column++) {
      expect(warp.rest[(upper + column) * 2 + 1]).toBeCloseTo(warp.rest[(lower + column) * 2 + 1]!, 6);
    }
    expect([warp.rest[(upper + first) * 2], warp.rest[(upper + last) * 2]].map((x) => x!.toFixed(3))).toEqual(["0.410", "0.590"]);
    expect(lipLine(warp.frame, 0.5)).toBeCloseTo(0.685, 5);
  });

  it("opens the mouth between its corners and nowhere else", () => {
    expect(gap(warp, {})).toBe(0);
    expect(gap(warp, { open: 1 })).toBeGreaterThan(0.06);
    expect(gap(warp, { open: 0.5 })).toBeCloseTo(gap(warp, { open: 1 }) / 2, 5);
    const points = posed(warp, { open: 1 });
    const { upper, lower, first, last } = warp.lips;
    for (let column = 0; column < warp.columns; column++) {
      const apart = points[(lower + column) * 2 + 1]! - points[(upper + column) * 2 + 1]!;
      if (column <= first || column >= last) expect(apart).toBeCloseTo(0, 5);
      else expect(apart).toBeGreaterThan(0);
    }
  });

  it("takes the chin along when the mouth opens, and not the eyes", () => {
    expect(moved(warp, { open: 1 }, [0.5, 0.82], true)[1]).toBeGreaterThan(0.03);
    expect(moved(warp, { open: 1 }, [0.39, 0.46])[1]).toBe(0);
  });

  it("draws p, a, s and u of equal loudness as different mouths", () => {
    const poses: Pose[] = [{ press: 1 }, { open: 1 }, { open: 0.15, wide: 0.6 }, { open: 0.3, round: 1 }];
    const mouths = poses.map((pose) => [gap(warp, pose), moved(warp, pose, [0.59, 0.68])[0]].map((value) => value.toFixed(3)).join(" "));
    expect(new Set(mouths).size).toBe(4);
  });

  it("closes the eyes down to the lower lid, with the skin above following", () => {
    const [, lid] = moved(warp, { blink: 1 }, [0.39, 0.432]);
    expect(lid).toBeGreaterThan(0.045);
    expect(lid).toBeLessThan(0.062);
    const [, skin] = moved(warp, { blink: 1 }, [0.39, 0.415]);
    expect(skin).toBeGreaterThan(0.002);
    expect(skin).toBeLessThan(lid);
    expect(moved(warp, { blink: 1 }, [0.39, 0.52])[1]).toBe(0);
    expect(moved(warp, { blink: 1 }, [0.5, 0.43])[1]).toBeCloseTo(0, 3);
  });

  it("moves the eyeballs between lids that stay", () => {
    expect(moved(warp, { look_x: 1 }, [0.39, 0.46])[0]).toBeGreaterThan(0.01);
    expect(moved(warp, { look_x: 1 }, [0.39, 0.42])[0]).toBe(0);
  });

  it("turns the nose further than the ears, and leaves the background", () => {
    const nose = moved(warp, { turn: 1 }, [0.5, 0.57])[0];
    const ear = moved(warp, { turn: 1 }, [0.8, 0.57])[0];
    expect(nose).toBeGreaterThan(ear * 2);
    expect(moved(warp, { turn: 1 }, [0.06, 0.1])[0]).toBeLessThan(nose / 15);
  });

  it("never folds over: no triangle of the mouth or the face is turned around", () => {
    for (const pose of [{ open: 1 }, { open: 1, round: 1 }, { wide: 1, smile: 1 }, { blink: 1 }, { turn: 1, nod: 1, tilt: 1, open: 1 }, { press: 1 }, { tuck: 1 }] satisfies Pose[]) {
      const points = posed(warp, pose);
      const area = (of: Float32Array, at: number) => {
        const [a, b, c] = [warp.triangles[at]!, warp.triangles[at + 1]!, warp.triangles[at + 2]!];
        return (of[b * 2]! - of[a * 2]!) * (of[c * 2 + 1]! - of[a * 2 + 1]!) - (of[c * 2]! - of[a * 2]!) * (of[b * 2 + 1]! - of[a * 2 + 1]!);
      };
      for (let at = 0; at < warp.triangles.length; at += 3) expect(area(points, at), JSON.stringify(pose)).toBeGreaterThan(-1e-5);
    }
  });

  it("is found in pictures of any shape, also held at an angle", () => {
    for (const aspect of [0.6, 1, 1.8]) {
      for (const angle of [-0.35, 0, 0.35]) {
        const other = buildWarp(turned(MARKS, angle), aspect);
        expect([...other.rest, ...posed(other, { open: 1, blink: 1 })].every(Number.isFinite)).toBe(true);
        expect(gap(other, { open: 1 })).toBeGreaterThan(0.02);
      }
    }
  });
});

describe("the part of a picture that is shown", () => {
  it("has the shape of the canvas, and holds the face", () => {
    for (const aspect of [0.6, 1, 1.8]) {
      for (const shape of [0.5, 1, 1.7]) {
        const { frame } = buildWarp(MARKS, aspect);
        const part = visiblePart(frame, shape);
        expect((part.width * aspect) / part.height).toBeCloseTo(shape, 5);
        expect(part.top).toBeGreaterThanOrEqual(0);
        expect(part.top + part.height).toBeLessThanOrEqual(1.000001);
        if (part.width > 1) expect(part.left + part.width / 2).toBeCloseTo(0.5, 6);
        else expect([part.left >= 0, part.left + part.width <= 1.000001]).toEqual([true, true]);
        expect([part.top < 0.43, part.top + part.height > 0.7]).toEqual([true, true]);
      }
    }
  });
});
