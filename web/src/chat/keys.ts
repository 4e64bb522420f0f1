// What a key means, in the composer and on the page. Pure: a key event's fields in, an action out.

export interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly isComposing: boolean;
  readonly keyCode: number;
}

/** Safari ends a composition before the Enter that confirmed it; only this code tells that key. */
const COMPOSING_KEY_CODE = 229;

function isComposing(key: Key): boolean {
  return key.isComposing || key.keyCode === COMPOSING_KEY_CODE;
}

/** In the composer: `empty` when nothing is typed; `enterSends` is false on touch keyboards, which have no Shift+Enter. */
export function composerAction(key: Key, empty: boolean, enterSends: boolean): "send" | "edit-last" | null {
  if (isComposing(key) || key.altKey) return null;
  if (key.key === "Enter" && !key.shiftKey && (enterSends || key.ctrlKey || key.metaKey)) return "send";
  if (key.key === "ArrowUp" && empty && !key.shiftKey && !key.ctrlKey && !key.metaKey) return "edit-last";
  return null;
}

/** In the editor of an earlier message. */
export function editorAction(key: Key, enterSends: boolean): "send" | "leave" | null {
  if (isComposing(key) || key.altKey) return null;
  if (key.key === "Escape") return "leave";
  return composerAction(key, false, enterSends) === "send" ? "send" : null;
}

/** Anywhere on the page. */
export function pageAction(key: Key): "stop" | "new-chat" | "search" | null {
  if (isComposing(key)) return null;
  if (key.key === "Escape") return "stop";
  if (key.key.toLowerCase() === "o" && key.shiftKey && (key.ctrlKey || key.metaKey) && !key.altKey) return "new-chat";
  if (key.key.toLowerCase() === "k" && !key.shiftKey && (key.ctrlKey || key.metaKey) && !key.altKey) return "search";
  return null;
}
