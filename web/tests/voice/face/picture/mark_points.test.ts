import { describe, expect, it } from "vitest";

import { closeUp, landmarksOf, MARK_NAMES, marksOf, moved, movedByKey, startMarks } from "../../../../src/voice/face/picture/mark_points";

describe("the points on a picture's face", () => {
  it("start inside pictures of any shape, as a face that is not stretched", () => {
    for (const [width, height] of [[500, 500], [2048, 900], [700, 2000]] as const) {
      const marks = startMarks(width, height);
      for (const name of MARK_NAMES) expect(marks[name].every((value) => value > 0 && value < 1), name).toBe(true);
      const across = (marks.right_eye_outer[0] - marks.left_eye_outer[0]) * width;
      const down = (marks.chin[1] - marks.left_eye_outer[1]) * height;
      expect(across / down).toBeCloseTo(0.32 / 0.37, 3);
    }
  });

  it("are landmarks under their own names", () => {
    const marks = startMarks(300, 200);
    expect(marksOf(landmarksOf(marks))).toEqual(marks);
    expect(landmarksOf(marks).right_eye.inner).toEqual(marks.right_eye_inner);
    expect(new Set(MARK_NAMES).size).toBe(14);
  });

  it("move to a place, and stay inside the picture", () => {
    const marks = moved(startMarks(1, 1), "chin", [0.2, 1.7]);
    expect(marks.chin).toEqual([0.2, 1]);
  });

  it("move by arrow keys, further with Shift, and by no other key", () => {
    const marks = moved(startMarks(1, 1), "lips", [0.5, 0.5]);
    expect(movedByKey(marks, "lips", "ArrowRight", false)?.lips).toEqual([0.502, 0.5]);
    expect(movedByKey(marks, "lips", "ArrowUp", true)?.lips).toEqual([0.5, 0.48]);
    expect(movedByKey(marks, "lips", "Tab", false)).toBeNull();
  });

  it("are shown in a part of the picture that holds them all", () => {
    let marks = startMarks(400, 400);
    for (const name of MARK_NAMES) marks = moved(marks, name, [0.9 + marks[name][0] / 20, marks[name][1] / 8]);
    const { left, top, share } = closeUp(marks);
    expect(share).toBeLessThan(0.15);
    for (const name of MARK_NAMES) {
      const [x, y] = marks[name];
      expect([x >= left, x <= left + share, y >= top, y <= top + share]).toEqual([true, true, true, true]);
    }
    expect(closeUp(startMarks(2000, 400)).share).toBeLessThanOrEqual(1);
  });
});
