// Where each setting is, for the palette. A setting that can be made at once names the preference to store. Pure. Its
// words, with synonyms, are in the language's palette.
import type { PagePreferences } from "../wire/server/settings";

export const SETTING_NAMES = [
  "theme-light",
  "theme-dark",
  "theme-system",
  "language",
  "text-size",
  "reading-width",
  "streaming",
  "thinking-open",
  "figures",
  "wrap-code",
  "announce",
  "enter-sends",
  "paste-as-file",
  "documents",
  "model",
  "system-prompt",
  "thinking",
  "effort",
  "tool-steps",
  "parameters",
  "stop-words",
  "voice",
  "microphone",
  "loudspeaker",
  "read-aloud",
  "tools",
  "tool-servers",
  "storage",
  "export",
  "import",
  "delete-chats",
  "browser-data",
  "keys",
  "usage",
  "version",
] as const;

export type SettingName = (typeof SETTING_NAMES)[number];

/** A section of the settings screen (`advanced`: what is folded in the first one), and what to store at once. */
interface SettingPlace {
  readonly section: string;
  readonly page?: Partial<PagePreferences>;
}

const SECTION_OF: Readonly<Record<Exclude<SettingName, `theme-${string}`>, string>> = {
  language: "general",
  "text-size": "appearance",
  "reading-width": "appearance",
  streaming: "appearance",
  "thinking-open": "appearance",
  figures: "appearance",
  "wrap-code": "appearance",
  announce: "appearance",
  "enter-sends": "general",
  "paste-as-file": "appearance",
  documents: "appearance",
  model: "general",
  "system-prompt": "general",
  thinking: "general",
  effort: "general",
  "tool-steps": "advanced",
  parameters: "advanced",
  "stop-words": "advanced",
  voice: "voice",
  microphone: "voice",
  loudspeaker: "voice",
  "read-aloud": "voice",
  tools: "tools",
  "tool-servers": "tools",
  storage: "data",
  export: "data",
  import: "data",
  "delete-chats": "data",
  "browser-data": "data",
  keys: "keys",
  usage: "usage",
  version: "about",
};

export function settingPlace(name: SettingName): SettingPlace {
  if (name === "theme-light") return { section: "general", page: { theme: "light" } };
  if (name === "theme-dark") return { section: "general", page: { theme: "dark" } };
  if (name === "theme-system") return { section: "general", page: { theme: "system" } };
  return { section: SECTION_OF[name] };
}
