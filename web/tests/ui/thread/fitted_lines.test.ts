import { describe, expect, it } from "vitest";

import type { FittedFile } from "../../../src/chat/reply/fitted_files";
import { fittedLines } from "../../../src/ui/thread/fitted_lines";
import type { FittingNote, WrittenSound } from "../../../src/wire/chat/rows";

const file = (kind: FittingNote["kind"], became: FittingNote["became"], more: Partial<FittingNote> = {}, sound: Partial<WrittenSound> | null = null): FittedFile => ({
  note: { where: "messages[0].content[0]", kind, became, ...more },
  sound: sound && { message: 0, part: 0, text: "", ...sound },
});
const line = (...files: FittedFile[]) => fittedLines(files)?.line;
const spaced = (text: string) => text.replaceAll("\u00a0", " ");

describe("the line about changed files", () => {
  it("is none where nothing was changed", () => {
    expect(fittedLines([])).toBeNull();
  });

  it("says all there is to say of one file", () => {
    expect(fittedLines([file("video", "frames", { count: 12, seconds: 12 })])).toEqual({ line: "The model got 12 frames of the video, without sound", details: [] });
    expect(line(file("video", "frames_and_sound", { count: 1 }))).toBe("The model got 1 frame of the video, and its sound");
    expect(line(file("image", "resized"))).toBe("The model got the picture scaled down");
    expect(line(file("image", "left_out"))).toBe("An earlier picture can’t be read and was left out");
    expect(line(file("video", "left_out"))).toBe("An earlier video can’t be read and was left out");
  });

  it("has the words of a recording as its detail", () => {
    expect(fittedLines([file("audio", "text", {}, { text: " Buy tea. " })])).toEqual({ line: "The model got the recording as text", details: [{ sentence: "", quote: "Buy tea." }] });
    expect(fittedLines([file("audio", "text", {}, { text: "hm", understood: false })])).toEqual({ line: "No words were recognized in the recording", details: [] });
  });

  it("counts several, and tells each of them on demand", () => {
    const lines = fittedLines([file("video", "frames", { count: 8, seconds: 74.6 }), file("audio", "text", { seconds: 2 }, { text: "Buy tea." })])!;
    expect(lines.line).toBe("2 files were adapted for the model");
    expect(lines.details.map(({ sentence, quote }) => [spaced(sentence), quote])).toEqual([
      ["The model got 8 frames of the video, without sound (1 min 15 s)", ""],
      ["The model got the recording as text (2 s)", "Buy tea."],
    ]);
  });
});
