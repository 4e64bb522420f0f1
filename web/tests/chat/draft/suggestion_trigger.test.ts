import { describe, expect, it } from "vitest";

import { helpQuestion, triggerOf } from "../../../src/chat/draft/suggestion_trigger";

/** "|" marks the caret. */
function at(text: string) {
  const caret = text.indexOf("|");
  return triggerOf(text.replace("|", ""), caret);
}

describe("a list over the composer", () => {
  it("is a slash at the start of an empty line", () => {
    expect(at("/|")).toEqual({ kind: "prompts", query: "", start: 0, end: 1 });
    expect(at("first\n/sum|\nlast")).toEqual({ kind: "prompts", query: "sum", start: 6, end: 10 });
  });

  it("is no other slash", () => {
    for (const text of ["and/or|", "see /etc|", "/say hello|", "/usr/bin|", "/|say", "//|"]) expect(at(text)).toBeNull();
  });

  it("is an @ at the start of a word", () => {
    expect(at("look at @no|")).toEqual({ kind: "resources", query: "no", start: 8, end: 11 });
    expect(at("@| and more")).toEqual({ kind: "resources", query: "", start: 0, end: 1 });
  });

  it("is no @ in an address or inside a word", () => {
    for (const text of ["me@home|", "@a b|", "@|home", "@@|"]) expect(at(text)).toBeNull();
  });

  it("is not looked for in a word without an end", () => {
    expect(at(`/${"x".repeat(200)}|`)).toBeNull();
    expect(at(`${"x".repeat(66)}/|`)).toBeNull();
  });
});

describe("a question to the help", () => {
  it("is what follows the command", () => {
    expect(helpQuestion("/help how do I call?\nplease")).toBe("how do I call?\nplease");
    expect(helpQuestion(" /HELP ")).toBe("");
  });

  it("is no other message", () => {
    for (const text of ["help me", "/helpless", "say /help", "/path/help"]) expect(helpQuestion(text)).toBeNull();
  });
});
