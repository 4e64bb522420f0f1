import type { Action } from "../../shell/shortcuts";
import { localised } from "../language.svelte";

const actions: Record<Action, string> = {
  palette: "Open the command palette",
  "new-chat": "New chat",
  "temporary-chat": "New temporary chat",
  search: "Search in all chats",
  stop: "Stop the reply",
  composer: "Go to the message field",
  regenerate: "Write the last reply anew",
  "copy-reply": "Copy the last reply",
  call: "Call, or back to the call",
  speak: "Voice message, hands-free",
  "previous-chat": "Previous chat",
  "next-chat": "Next chat",
  "rename-chat": "Rename this chat",
  "pin-chat": "Pin or unpin this chat",
  "archive-chat": "Archive or unarchive this chat",
  "delete-chat": "Delete this chat",
  sidebar: "Show or hide the sidebar",
  theme: "Change the theme",
  settings: "Settings",
  models: "Models",
  admin: "Admin",
  shortcuts: "Keyboard shortcuts",
};

const english = {
  actions,
  title: "Command palette",
  field: "What to do, or which chat",
  placeholder: "Command, chat or words",
  results: "Results",
  groups: { actions: "Actions", chats: "Chats", models: "Models", hits: "In messages" },
  answerWith: (model: string) => `Answer with ${model}`,
  nothing: "Nothing found.",
  found: (count: number) => (count === 1 ? "1 result" : `${count} results`),
  untitled: "New chat",
  keys: "Keyboard shortcuts",
  change: "Change the keys",
  none: "None",
  press: "Press the new keys",
  pressHint: "Escape ends without a change. Backspace takes the keys away.",
  needsModifier: "Use Ctrl, Alt or a function key with it: a lone character is for typing.",
  taken: (action: string) => `Taken from “${action}”.`,
  set: (action: string, keys: string) => `${action}: ${keys}`,
  unset: (action: string) => `${action} has no keys now.`,
  rebind: (action: string) => `Change the keys of “${action}”`,
  reset: "Reset",
  resetOne: (action: string) => `Reset the keys of “${action}”`,
  resetAll: "Reset all",
  about: "Select an action's keys and press new ones.",
  inText: "While typing",
  send: "Send the message",
  line: "Begin a new line",
  editLast: "Edit the last message (in an empty field)",
};

export type PaletteWords = typeof english;

export const palette = (): PaletteWords => localised("palette", english);
