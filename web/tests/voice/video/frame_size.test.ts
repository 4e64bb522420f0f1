import { describe, expect, it } from "vitest";

import { fitted, LONGEST_SIDE, MOST_BYTES, smallerSide } from "../../../src/voice/video/frame_size";

describe("a frame", () => {
  it("keeps its shape, and is never made larger", () => {
    expect(fitted({ width: 1280, height: 720 }, LONGEST_SIDE)).toEqual({ width: 1024, height: 576 });
    expect(fitted({ width: 1080, height: 1920 }, LONGEST_SIDE)).toEqual({ width: 576, height: 1024 });
    expect(fitted({ width: 640, height: 480 }, LONGEST_SIDE)).toEqual({ width: 640, height: 480 });
    expect(fitted({ width: 5000, height: 1 }, LONGEST_SIDE)).toEqual({ width: 1024, height: 1 });
  });

  it("of too many bytes is made smaller until it fits, or cannot be", () => {
    const size = { width: 1024, height: 768 };
    expect(smallerSide(size, MOST_BYTES)).toBe(null);
    expect(smallerSide(size, 4 * MOST_BYTES)).toBe(460);
    expect(smallerSide(size, 1000 * MOST_BYTES)).toBe(256);
    expect(smallerSide({ width: 256, height: 100 }, 2 * MOST_BYTES)).toBe(null);
  });
});
