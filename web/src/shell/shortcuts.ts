// Keyboard shortcuts: defaults, the user's own, and how keys are displayed. Pure.
import { isComposing, type Key } from "../chat/draft/composer_keys";

export const ACTIONS = [
  "palette",
  "new-chat",
  "temporary-chat",
  "search",
  "stop",
  "composer",
  "regenerate",
  "copy-reply",
  "call",
  "speak",
  "previous-chat",
  "next-chat",
  "rename-chat",
  "pin-chat",
  "archive-chat",
  "delete-chat",
  "sidebar",
  "theme",
  "settings",
  "models",
  "admin",
  "help",
  "shortcuts",
] as const;

export type Action = (typeof ACTIONS)[number];

/** "Mod" is the Command key on a Mac, Ctrl elsewhere. Chosen to avoid keys of browsers and screen readers. */
export const DEFAULT_SHORTCUTS: Readonly<Record<Action, string>> = {
  palette: "Mod+K",
  "new-chat": "Mod+Shift+O",
  "temporary-chat": "",
  search: "Mod+Shift+F",
  stop: "Escape",
  composer: "Alt+Shift+M",
  regenerate: "Alt+Shift+G",
  "copy-reply": "Alt+Shift+C",
  call: "Alt+Shift+V",
  speak: "Alt+Shift+S",
  "previous-chat": "Alt+Shift+ArrowUp",
  "next-chat": "Alt+Shift+ArrowDown",
  "rename-chat": "Alt+Shift+R",
  "pin-chat": "Alt+Shift+P",
  "archive-chat": "Alt+Shift+A",
  "delete-chat": "Alt+Shift+Backspace",
  sidebar: "Mod+B",
  theme: "",
  settings: "Mod+,",
  models: "",
  admin: "",
  help: "",
  shortcuts: "Mod+/",
};

export type Bindings = Readonly<Record<Action, string>>;

/** The defaults overridden by the user's own. Keys assigned to one action are removed from any other. */
export function bindingsOf(own: Readonly<Record<string, string>>): Bindings {
  const ownKeys = new Set(ACTIONS.map((action) => own[action]).filter((keys) => keys));
  return Object.fromEntries(ACTIONS.map((action) => [action, own[action] ?? (ownKeys.has(DEFAULT_SHORTCUTS[action]) ? "" : DEFAULT_SHORTCUTS[action])])) as Bindings;
}

const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);
const LETTER = /^Key([A-Z])$/;
const DIGIT = /^Digit(\d)$/;

export type PressedKey = Key & { readonly code: string };

/** A key event as "Mod+Shift+O"; empty if it cannot be a shortcut. */
export function keysOf(key: PressedKey, isMac: boolean): string {
  if (isComposing(key) || MODIFIERS.has(key.key)) return "";
  const modifier = isMac ? key.metaKey : key.ctrlKey;
  const other = isMac ? key.ctrlKey : key.metaKey;
  if (other) return "";
  // With Alt, and on non-Latin keyboards, `key` is not the character printed on the key; `code` is.
  const plain = /^[\x21-\x7e]$/.test(key.key) && !key.altKey ? key.key.toUpperCase() : "";
  const name = plain || (LETTER.exec(key.code)?.[1] ?? DIGIT.exec(key.code)?.[1] ?? (key.key.length > 1 ? key.key : ""));
  if (name === "") return "";
  // Shift is already implied by a character like "?".
  const shift = key.shiftKey && (name.length > 1 || /[A-Z0-9]/.test(name));
  return [modifier ? "Mod" : "", key.altKey ? "Alt" : "", shift ? "Shift" : "", name].filter((part) => part !== "").join("+");
}

/** Whether keys may be assigned: single characters would interfere with typing and speech input. */
export function canBind(keys: string): boolean {
  const parts = keys.split("+");
  const name = parts.at(-1) ?? "";
  if (/^F\d+$/.test(name) || keys === "Escape") return true;
  return parts.includes("Mod") || parts.includes("Alt");
}

export function actionOf(keys: string, bindings: Bindings): Action | null {
  return keys === "" ? null : (ACTIONS.find((action) => bindings[action] === keys) ?? null);
}

const SYMBOLS: Readonly<Record<string, string>> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };
const MAC: Readonly<Record<string, string>> = { Mod: "⌘", Alt: "⌥", Shift: "⇧", Backspace: "⌫", Enter: "↩" };

/** The labels of the keys, one per key; `names` are the names on a PC keyboard in the page's language. */
export function keyLabels(keys: string, isMac: boolean, names: Readonly<Record<string, string>>): string[] {
  if (keys === "") return [];
  return keys.split("+").map((part) => (isMac ? MAC : names)[part] ?? SYMBOLS[part] ?? part);
}

export function isMac(platform: string): boolean {
  return /mac|iphone|ipad/i.test(platform);
}
