import { describe, expect, it } from "vitest";

import { begins, type Commanded, expanded, grouped, promptEntries, promptText, resourceEntries, variablesOf } from "../../../src/chat/draft/offered";

const prompts = [
  { server: "notes", prompts: [{ name: "summarize", title: "Sum up", description: "Sums up a note", arguments: [{ name: "note" }] }, { name: "daily_review" }] },
  { server: "mail", prompts: [{ name: "reply" }] },
];
const commands: Commanded[] = [{ group: "Commands", name: "new", detail: "A new chat", deed: { do: "command", command: "new-chat" } }];
const resources = [
  {
    server: "notes",
    resources: [{ uri: "notes://tea", title: "On tea" }, { uri: "notes://2" }],
    templates: [{ template: "notes://{name}", title: "A note" }, { template: "notes://{?q*}" }],
  },
];
const labels = (entries: readonly { label: string }[]) => entries.map(({ label }) => label);

describe("after a slash", () => {
  it("there is everything: what servers offer, and the page's own commands", () => {
    expect(labels(promptEntries("", prompts, commands))).toEqual(["/summarize", "/daily_review", "/reply", "/new"]);
  });

  it("there is what has a word that begins so, and of a command only its beginning", () => {
    expect(labels(promptEntries("rev", prompts, commands))).toEqual(["/daily_review"]);
    expect(labels(promptEntries("NOTES", prompts, commands))).toEqual(["/summarize", "/daily_review"]);
    expect(labels(promptEntries("ew", prompts, commands))).toEqual([]);
    expect(labels(promptEntries("say", prompts, commands))).toEqual([]);
  });
});

describe("after an at", () => {
  it("there are resources and the patterns that can be filled in", () => {
    expect(labels(resourceEntries("", resources))).toEqual(["On tea", "notes://2", "A note"]);
    expect(labels(resourceEntries("te", resources))).toEqual(["On tea"]);
  });

  it("they stand under their servers", () => {
    expect(grouped(resourceEntries("", resources)).map(({ group, entries }) => [group, entries.length])).toEqual([["notes", 3]]);
  });
});

describe("the parts", () => {
  it("compare letters without their marks, and no middles of words", () => {
    expect([begins("uber", "Größe über alles"), begins("ber", "über"), begins("", "x"), begins("x", undefined)]).toEqual([true, false, true, false]);
  });

  it("know what a pattern needs, and what it stands for then", () => {
    expect(variablesOf("notes://{name}/{+path}")).toEqual([
      { name: "name", required: true },
      { name: "path", required: true },
    ]);
    expect(variablesOf("notes://{?q*}")).toBeNull();
    expect(expanded("notes://{name}/{+path}", { name: "a b/c", path: "x/y z" })).toBe("notes://a%20b%2Fc/x/y%20z");
  });

  it("make one text of a prompt's messages", () => {
    expect(promptText([{ text: " Sum this up. " }, { text: "" }, { text: "Tea." }])).toBe("Sum this up.\n\nTea.");
  });
});
