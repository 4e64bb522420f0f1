import { describe, expect, it } from "vitest";

import { figurePose } from "../../../../src/voice/face/figure/figure_pose";
import { mouthPose } from "../../../../src/voice/face/pose";

const mouth = { open: 0, wide: 0, press: 0, tuck: 0, tongue: 0 };
const of = (weights: Partial<typeof mouth>) => figurePose(mouthPose({ ...mouth, ...weights })).expressions;

describe("the mouth of a figure", () => {
  it("differs between p, a, s and u, however loud they are", () => {
    const [p, a, s, u] = [of({ press: 1, open: 0.3 }), of({ open: 1 }), of({ open: 0.15, wide: 0.5 }), of({ open: 0.3, wide: -1 })];
    expect(p.aa + p.ih + p.ou + p.ee + p.oh).toBe(0);
    expect(a.aa).toBe(1);
    expect(s.ee).toBeGreaterThan(s.aa);
    expect(u.ou).toBeGreaterThan(0.5);
    expect(u.aa).toBeLessThan(0.1);
  });

  it("is never more than one mouth", () => {
    for (const open of [0, 0.5, 1]) {
      for (const wide of [-1, -0.5, 0, 0.5, 1]) {
        for (const tongue of [0, 1]) {
          const { aa, ih, ou, ee, oh } = of({ open, wide, tongue });
          expect(aa + ih + ou + ee + oh).toBeLessThanOrEqual(1.0001);
          expect(Math.min(aa, ih, ou, ee, oh)).toBeGreaterThanOrEqual(0);
        }
      }
    }
  });
});

describe("the rest of a figure", () => {
  it("is at rest without a pose", () => {
    const { expressions, head, breath, gaze } = figurePose({});
    expect(new Set(Object.values(expressions))).toEqual(new Set([0]));
    expect([head, breath, gaze]).toEqual([{ nod: 0, turn: 0, tilt: 0 }, 0, { yaw: 0, pitch: 0 }]);
  });

  it("does not go further than a full pose", () => {
    expect(figurePose({ blink: 3, turn: -9 })).toEqual(figurePose({ blink: 1, turn: -1 }));
  });
});
