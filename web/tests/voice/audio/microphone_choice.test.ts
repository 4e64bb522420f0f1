import { expect, it } from "vitest";

import { MemoryStorage } from "../../../src/settings/storage";
import { DEFAULT_CHOICE, readChoice, writeChoice } from "../../../src/voice/audio/microphone_choice";

it("remembers a device's microphone, and takes what it cannot read for nothing", () => {
  const storage = new MemoryStorage();
  expect(readChoice(storage)).toEqual(DEFAULT_CHOICE);
  writeChoice(storage, { device: "a", cleaned: false });
  expect(readChoice(storage)).toEqual({ device: "a", cleaned: false });
  storage.put("duologue.microphone", "{");
  expect(readChoice(storage)).toEqual(DEFAULT_CHOICE);
  storage.put("duologue.microphone", '{"device":7}');
  expect(readChoice(storage)).toEqual(DEFAULT_CHOICE);
});
