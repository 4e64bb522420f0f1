import { describe, expect, it } from "vitest";

import { linePaths, roundTop, scaleTop } from "../../src/admin/chart";

const frame = { width: 100, height: 50, from: 0, to: 100, top: 10 };

describe("a chart", () => {
  it("ends its scale at the next round number", () => {
    expect([0, 0.3, 1, 7, 23, 240, 999].map(roundTop)).toEqual([1, 0.5, 1, 10, 25, 250, 1000]);
    expect(scaleTop([[{ at: 0, value: 3 }], [{ at: 1, value: null }, { at: 2, value: 41 }]])).toBe(50);
  });

  it("draws its points from left to right, the top at the top", () => {
    expect(linePaths([{ at: 0, value: 0 }, { at: 50, value: 10 }, { at: 100, value: 5 }], frame, 60)).toEqual({ lines: "M0.0 50.0L50.0 0.0L100.0 25.0", dots: "" });
  });

  it("leaves a gap where nothing was measured, and a dot for a point alone", () => {
    const points = [
      { at: 0, value: 5 },
      { at: 10, value: 5 },
      { at: 20, value: null },
      { at: 60, value: 5 },
    ];
    expect(linePaths(points, frame, 15)).toEqual({ lines: "M0.0 25.0L10.0 25.0", dots: "M60.0 25.0h0" });
  });

  it("draws nothing outside its edges", () => {
    expect(linePaths([{ at: -5, value: 1 }, { at: 101, value: 1 }], frame, 15)).toEqual({ lines: "", dots: "" });
  });
});
