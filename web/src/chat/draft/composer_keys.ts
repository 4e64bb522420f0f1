// What a key means where one types; shell/shortcuts.ts says it for the page. Pure: a key event's fields in, an action out.

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

export function isComposing(key: Key): boolean {
  return key.isComposing || key.keyCode === COMPOSING_KEY_CODE;
}

/**
 * In the composer: `empty` when nothing is typed; `enterSends` is false on touch keyboards, which have no Shift+Enter.
 * "steer" is to send it into the reply that is on.
 */
export function composerAction(key: Key, empty: boolean, enterSends: boolean): "send" | "steer" | "edit-last" | null {
  if (isComposing(key) || key.altKey) return null;
  if (key.key === "Enter") {
    const modified = key.ctrlKey || key.metaKey;
    // Where Enter alone breaks the line, Ctrl+Enter sends, and one key more is in a hurry.
    if (modified && key.shiftKey !== enterSends) return "steer";
    return !key.shiftKey && (enterSends || modified) ? "send" : null;
  }
  if (key.key === "ArrowUp" && empty && !key.shiftKey && !key.ctrlKey && !key.metaKey) return "edit-last";
  return null;
}

/** In the editor of an earlier message. */
export function editorAction(key: Key, enterSends: boolean): "send" | "leave" | null {
  if (isComposing(key) || key.altKey) return null;
  if (key.key === "Escape") return "leave";
  const action = composerAction(key, false, enterSends);
  return action === "send" || action === "steer" ? "send" : null;
}
