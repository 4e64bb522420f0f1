import { describe, expect, it } from "vitest";

import { MemoryStorage } from "../../../src/settings/storage";
import { readVideoChoice, writeVideoChoice } from "../../../src/voice/video/video_choice";

describe("the choice of this browser", () => {
  it("is one frame a second and the mirror of the camera at first", () => {
    expect(readVideoChoice(new MemoryStorage())).toEqual({ rate: 1, mirrored: null });
  });

  it("is kept, and what is no choice is not", () => {
    const storage = new MemoryStorage();
    writeVideoChoice(storage, { rate: 4, mirrored: false });
    expect(readVideoChoice(storage)).toEqual({ rate: 4, mirrored: false });
    for (const text of ["{", "null", '{"rate":30,"mirrored":"no"}']) {
      storage.put("duologue.call_video", text);
      expect(readVideoChoice(storage)).toEqual({ rate: 1, mirrored: null });
    }
  });
});
