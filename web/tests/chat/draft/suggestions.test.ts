import { describe, expect, it } from "vitest";

import { type CommandSuggestion, expandTemplate, groupSuggestions, matchesWordStart, promptSuggestions, promptText, resourceSuggestions, templateVariables } from "../../../src/chat/draft/suggestions";

const prompts = [
  { server: "notes", prompts: [{ name: "summarize", title: "Sum up", description: "Sums up a note", arguments: [{ name: "note" }] }, { name: "daily_review" }] },
  { server: "mail", prompts: [{ name: "reply" }] },
];
const commands: CommandSuggestion[] = [{ group: "Commands", name: "new", detail: "A new chat", action: { kind: "command", command: "new-chat" } }];
const resources = [
  {
    server: "notes",
    resources: [{ uri: "notes://tea", title: "On tea" }, { uri: "notes://2" }],
    templates: [{ template: "notes://{name}", title: "A note" }, { template: "notes://{?q*}" }],
  },
];
const labels = (suggestions: readonly { label: string }[]) => suggestions.map(({ label }) => label);

describe("after a slash", () => {
  it("there is everything: what servers offer, and the page's own commands", () => {
    expect(labels(promptSuggestions("", prompts, commands))).toEqual(["/summarize", "/daily_review", "/reply", "/new"]);
  });

  it("there is what has a word that begins so, and of a command only its beginning", () => {
    expect(labels(promptSuggestions("rev", prompts, commands))).toEqual(["/daily_review"]);
    expect(labels(promptSuggestions("NOTES", prompts, commands))).toEqual(["/summarize", "/daily_review"]);
    expect(labels(promptSuggestions("ew", prompts, commands))).toEqual([]);
    expect(labels(promptSuggestions("say", prompts, commands))).toEqual([]);
  });
});

describe("after an at", () => {
  it("there are resources and the patterns that can be filled in", () => {
    expect(labels(resourceSuggestions("", resources))).toEqual(["On tea", "notes://2", "A note"]);
    expect(labels(resourceSuggestions("te", resources))).toEqual(["On tea"]);
  });

  it("they stand under their servers", () => {
    expect(groupSuggestions(resourceSuggestions("", resources)).map(({ group, suggestions }) => [group, suggestions.length])).toEqual([["notes", 3]]);
  });
});

describe("the parts", () => {
  it("compare letters without their marks, and no middles of words", () => {
    expect([matchesWordStart("uber", "Größe über alles"), matchesWordStart("ber", "über"), matchesWordStart("", "x"), matchesWordStart("x", undefined)]).toEqual([true, false, true, false]);
  });

  it("know a template's variables and expansion", () => {
    expect(templateVariables("notes://{name}/{+path}")).toEqual([
      { name: "name", required: true },
      { name: "path", required: true },
    ]);
    expect(templateVariables("notes://{?q*}")).toBeNull();
    expect(expandTemplate("notes://{name}/{+path}", { name: "a b/c", path: "x/y z" })).toBe("notes://a%20b%2Fc/x/y%20z");
  });

  it("make one text of a prompt's messages", () => {
    expect(promptText([{ text: " Sum this up. " }, { text: "" }, { text: "Tea." }])).toBe("Sum this up.\n\nTea.");
  });
});
