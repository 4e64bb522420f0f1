import { expect, it } from "vitest";

import { MemoryShelf } from "../../../src/settings/shelf";
import { FIRST_CHOICE, readChoice, writeChoice } from "../../../src/voice/audio/choice";

it("remembers a device's microphone, and takes what it cannot read for nothing", () => {
  const shelf = new MemoryShelf();
  expect(readChoice(shelf)).toEqual(FIRST_CHOICE);
  writeChoice(shelf, { device: "a", cleaned: false });
  expect(readChoice(shelf)).toEqual({ device: "a", cleaned: false });
  shelf.put("duologue.microphone", "{");
  expect(readChoice(shelf)).toEqual(FIRST_CHOICE);
  shelf.put("duologue.microphone", '{"device":7}');
  expect(readChoice(shelf)).toEqual(FIRST_CHOICE);
});
