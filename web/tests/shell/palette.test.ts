import { describe, expect, it } from "vitest";

import { german } from "../../src/language/de";
import { palette as words } from "../../src/language/en/shell/palette";
import { SETTING_NAMES, settingPlace, type SettingName } from "../../src/shell/setting_places";
import { settings as settingWords } from "../../src/language/en/settings/settings";
import { matchScore, paletteEntries, type PaletteSources } from "../../src/shell/palette";

const sources: PaletteSources = {
  actions: [
    { action: "new-chat", label: "New chat" },
    { action: "theme", label: "Change the theme" },
  ],
  settings: [],
  models: [{ model: "big", label: "Answer with big" }],
  chats: [
    { id: "c1", title: "The theme of the opera" },
    { id: "c2", title: "" },
    { id: "c3", title: "Café in Köln" },
  ],
  hits: [{ conversation: "c9", title: "Notes", message: "m1", role: "user", created: 0, snippet: "a theme" }],
  askHelp: (question) => `Help: ${question}`,
};
const ids = (words: string) => paletteEntries(words, sources).map(({ id }) => id);

describe("the palette", () => {
  it("offers the newest chats and every action before anything is typed", () => {
    expect(ids("")).toEqual(["chat-c1", "chat-c3", "action-new-chat", "action-theme"]);
  });

  it("finds actions, chats and places in messages by words in any order", () => {
    expect(ids("theme")).toEqual(["action-theme", "chat-c1", "hit-c9-m1", "help"]);
    expect(ids("theme change")).toContain("action-theme");
    expect(ids("zebra")).toEqual(["hit-c9-m1", "help"]);
  });

  it("offers other models by name", () => {
    expect(ids("big")).toContain("model-big");
  });

  it("minds no accents and no capitals", () => {
    expect(ids("cafe koln")[0]).toBe("chat-c3");
  });

  it("puts first what begins with the words", () => {
    expect(matchScore("New chat", "new")).toBeGreaterThan(matchScore("Renewal", "new"));
    expect(matchScore("A new chat", "new")).toBeGreaterThan(matchScore("Renewal", "new"));
    expect(matchScore("New chat", "old")).toBe(0);
  });
});

describe("the settings in the palette", () => {
  const first = (query: string, all: Record<SettingName, readonly [string, string]> = words().settings): string | undefined => {
    const settings = SETTING_NAMES.map((setting) => ({ setting, label: all[setting][0], synonyms: all[setting][1] }));
    return paletteEntries(query, { actions: [], settings, models: [], chats: [], hits: [], askHelp: String })[0]?.id.replace("setting-", "");
  };

  it.each([
    ["dark", "theme-dark"],
    ["light", "theme-light"],
    ["night mode", "theme-dark"],
    ["language", "language"],
    ["deutsch", "language"],
    ["font", "text-size"],
    ["temperature", "parameters"],
    ["mcp", "tool-servers"],
    ["password", "keys"],
    ["microphone", "microphone"],
  ])("finds %s", (query, setting) => {
    expect(first(query)).toBe(setting);
  });

  it("finds them in German too", () => {
    expect(first("dunkel", german.palette.settings)).toBe("theme-dark");
    expect(first("sprache", german.palette.settings)).toBe("language");
  });

  it("are on sections that exist", () => {
    for (const setting of SETTING_NAMES) expect(settingWords().sections).toHaveProperty(settingPlace(setting).section);
  });
});
