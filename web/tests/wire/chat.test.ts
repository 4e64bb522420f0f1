import { describe, expect, it } from "vitest";

import { isLast, read } from "../../src/wire/chat";

describe("reading a frame", () => {
  it("gives a known message as it is", () => {
    expect(read('{"type":"chunk","text_delta":"a"}')).toEqual({ type: "chunk", text_delta: "a" });
  });

  it.each(['{"type":"status"}', "[]", "null", "1", "{", '{"id":"r1"}'])("skips %s", (frame) => {
    expect(read(frame)).toBeNull();
  });

  it("skips binary frames", () => {
    expect(read(new ArrayBuffer(1))).toBeNull();
  });
});

it("knows the two last messages", () => {
  expect([{ type: "done" }, { type: "error" }, { type: "chunk" }].map((message) => isLast(message as never))).toEqual([
    true,
    true,
    false,
  ]);
});
