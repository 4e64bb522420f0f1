import { expect, it } from "vitest";

import { wavOf } from "../../../src/voice/audio/wav";

it("makes a file of a recording: its header says what it is, its samples follow", () => {
  const file = wavOf([Int16Array.of(1, -1), Int16Array.of(32767)], 16000);
  const view = new DataView(file.buffer);
  const letters = (at: number) => String.fromCharCode(...file.subarray(at, at + 4));
  expect([letters(0), letters(8), letters(12), letters(36)]).toEqual(["RIFF", "WAVE", "fmt ", "data"]);
  expect([view.getUint32(4, true), view.getUint16(20, true), view.getUint16(22, true), view.getUint32(24, true), view.getUint32(28, true), view.getUint16(34, true), view.getUint32(40, true)]).toEqual([
    42, 1, 1, 16000, 32000, 16, 6,
  ]);
  expect([44, 46, 48].map((at) => view.getInt16(at, true))).toEqual([1, -1, 32767]);
  expect(file.length).toBe(50);
});
