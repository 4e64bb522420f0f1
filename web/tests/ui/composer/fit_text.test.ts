import { describe, expect, it } from "vitest";

import { fitText, measuresOf } from "../../../src/ui/composer/fit_text";

describe("what is said on an attached file", () => {
  it("is how long and how large it is", () => {
    expect(measuresOf({ kind: "video", became: "frames", seconds: 63.6, width: 1280, height: 720 })).toEqual(["1:04", "1280\u00a0×\u00a0720"]);
    expect(measuresOf({ kind: "audio", became: "text", seconds: 0.3 })).toEqual(["0:01"]);
    expect(measuresOf({ kind: "document", became: "text" })).toEqual([]);
  });

  it("is what the model gets of a video", () => {
    expect(fitText({ kind: "video", became: "frames", frames: 32, tokens: 8192 })).toBe("32 frames, without sound, about 8,200 tokens");
    expect(fitText({ kind: "video", became: "frames_and_sound", frames: 1, tokens: 260 })).toBe("1 frame, with sound, about 260 tokens");
    expect(fitText({ kind: "video", became: "kept", frames: 64, tokens: 16_384 })).toBe("64 frames, about 17,000 tokens");
  });

  it("is what the model gets of sound, pictures and documents", () => {
    expect(fitText({ kind: "audio", became: "text", seconds: 9, tokens: 36 })).toBe("will be written down, about 36 tokens");
    expect(fitText({ kind: "audio", became: "kept", tokens: 250 })).toBe("about 250 tokens");
    expect(fitText({ kind: "image", became: "resized", frames: 1, tokens: 5103 })).toBe("scaled down, about 5,200 tokens");
    expect(fitText({ kind: "image", became: "kept", frames: 1, tokens: 256 })).toBe("about 260 tokens");
    expect(fitText({ kind: "document", became: "text", tokens: 7 })).toBe("about 7 tokens");
  });

  it("is nothing where nothing is known or it is refused", () => {
    expect(fitText({ kind: "video", became: "refused", code: "modality_unsupported" })).toBe("");
    expect(fitText({ kind: "document", became: "frames", frames: 0 })).toBe("");
  });
});
