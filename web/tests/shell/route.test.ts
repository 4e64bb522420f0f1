import { describe, expect, it } from "vitest";

import { chatAddress, helpAddress, parseRoute, screenAddress, SCREENS } from "../../src/shell/route";

describe("the page's address", () => {
  it("names a conversation, and a message in it", () => {
    expect(parseRoute("#/c/a-b_1")).toMatchObject({ screen: "chat", conversation: "a-b_1", message: null });
    expect(parseRoute("#/c/a/m1")).toMatchObject({ screen: "chat", conversation: "a", message: "m1" });
  });

  it("is a new conversation when it names none that could be", () => {
    for (const hash of ["", "#", "#/", "#/c/", "#/c/a%20b", `#/c/${"a".repeat(65)}`, "#/x/a"]) {
      expect(parseRoute(hash)).toMatchObject({ screen: "chat", conversation: null, message: null });
    }
  });

  it("is read as it was written", () => {
    for (const [conversation, message] of [[null, null], ["a", null], ["a", "b"]] as const) {
      expect(parseRoute(chatAddress(conversation, message))).toMatchObject({ screen: "chat", conversation, message });
    }
  });

  it("names a screen, and a part of it", () => {
    for (const screen of SCREENS) expect(parseRoute(screenAddress(screen))).toMatchObject({ screen, section: "", conversation: null });
    expect(parseRoute(screenAddress("settings", "keys"))).toMatchObject({ screen: "settings", section: "keys" });
  });

  it("asks the help what anybody may type", () => {
    for (const query of ["how do I?", "100 % & more", "a/b#c", "größer"]) {
      expect(parseRoute(helpAddress(query))).toMatchObject({ screen: "help", query });
    }
    expect(parseRoute(helpAddress(" "))).toMatchObject({ screen: "help", query: "" });
    expect(parseRoute("#/help?q=%E0%A4%A")).toMatchObject({ screen: "help", query: "" });
  });
});
