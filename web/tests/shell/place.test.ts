import { describe, expect, it } from "vitest";

import { addressOf, placeOf, SCREENS, screenAddress } from "../../src/shell/place";

describe("the page's address", () => {
  it("names a conversation, and a message in it", () => {
    expect(placeOf("#/c/a-b_1")).toMatchObject({ screen: "chat", conversation: "a-b_1", message: null });
    expect(placeOf("#/c/a/m1")).toMatchObject({ screen: "chat", conversation: "a", message: "m1" });
  });

  it("is a new conversation when it names none that could be", () => {
    for (const hash of ["", "#", "#/", "#/c/", "#/c/a%20b", `#/c/${"a".repeat(65)}`, "#/x/a"]) {
      expect(placeOf(hash)).toMatchObject({ screen: "chat", conversation: null, message: null });
    }
  });

  it("is read as it was written", () => {
    for (const [conversation, message] of [[null, null], ["a", null], ["a", "b"]] as const) {
      expect(placeOf(addressOf(conversation, message))).toMatchObject({ screen: "chat", conversation, message });
    }
  });

  it("names a screen, and a part of it", () => {
    for (const screen of SCREENS) expect(placeOf(screenAddress(screen))).toMatchObject({ screen, section: "", conversation: null });
    expect(placeOf(screenAddress("settings", "keys"))).toMatchObject({ screen: "settings", section: "keys" });
  });
});
