import { describe, expect, it } from "vitest";

import { addressOf, placeOf } from "../../src/chat/address";

describe("the page's address", () => {
  it("names a conversation, and a message in it", () => {
    expect(placeOf("#/c/a-b_1")).toEqual({ conversation: "a-b_1", message: null });
    expect(placeOf("#/c/a/m1")).toEqual({ conversation: "a", message: "m1" });
  });

  it("is a new conversation when it names none that could be", () => {
    for (const hash of ["", "#", "#/", "#/c/", "#/c/a%20b", `#/c/${"a".repeat(65)}`, "#/x/a"]) {
      expect(placeOf(hash)).toEqual({ conversation: null, message: null });
    }
  });

  it("is read as it was written", () => {
    for (const [conversation, message] of [[null, null], ["a", null], ["a", "b"]] as const) {
      expect(placeOf(addressOf(conversation, message))).toEqual({ conversation, message });
    }
  });
});
