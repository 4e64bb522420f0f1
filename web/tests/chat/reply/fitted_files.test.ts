import { describe, expect, it } from "vitest";

import { filesFittedFor, type FittedRow } from "../../../src/chat/reply/fitted_files";
import type { Turn } from "../../../src/chat/turns";
import type { FittedMedia, FittingNote } from "../../../src/wire/chat/rows";

const clip: FittingNote = { where: "messages[0].content[1]", kind: "video", became: "frames", count: 12, seconds: 12.4 };
const sound: FittingNote = { where: "messages[2].content[0]", kind: "audio", became: "text" };
const fitted = (...notes: FittingNote[]): FittedMedia => ({ notes });
const row = (key: string, fitted: FittedMedia | null = null): FittedRow => ({ key, role: "assistant", kind: "message", fitted });
const reply = (key: string, ...rows: FittedRow[]): Turn<FittedRow> => ({ kind: "reply", key, rows });
const question = (key: string): Turn<FittedRow> => ({ kind: "user", key, row: { key, role: "user", kind: "message", fitted: null } });
const notes = (turns: Turn<FittedRow>[], key: string) => filesFittedFor(turns, key).map(({ note }) => note);

describe("what a reply tells of the files before it", () => {
  it("is nothing where nothing was changed, or nobody followed the run", () => {
    expect(notes([question("q"), reply("a", row("a"))], "a")).toEqual([]);
    expect(notes([reply("a", row("a", {}))], "a")).toEqual([]);
    expect(notes([], "gone")).toEqual([]);
  });

  it("is told once, though each turn of the model and each later prompt has it again", () => {
    const turns = [question("q"), reply("a", row("a", fitted(clip)), row("a2", fitted(clip))), question("r"), reply("b", row("b", fitted(clip, sound)))];
    expect(notes(turns, "a")).toEqual([clip]);
    expect(notes(turns, "b")).toEqual([sound]);
  });

  it("is told again where another became of the file", () => {
    const fewer = { ...clip, count: 6 };
    expect(notes([reply("a", row("a", fitted(clip))), question("r"), reply("b", row("b", fitted(fewer)))], "b")).toEqual([fewer]);
  });

  it("comes with what was written down at that place", () => {
    const heard = { message: 2, part: 0, text: "Buy tea." };
    const turns = [reply("a", row("a", { ...fitted(clip, sound), transcripts: [{ message: 1, part: 0, text: "no" }, heard] }))];
    expect(filesFittedFor(turns, "a")).toEqual([
      { note: clip, sound: null },
      { note: sound, sound: heard },
    ]);
  });
});
