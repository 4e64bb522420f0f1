// What a key means in a text field; shell/shortcuts.ts handles the rest of the page. Pure.

export interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly isComposing: boolean;
  readonly keyCode: number;
}

/** Safari ends an IME composition before the Enter that confirms it; only this legacy key code reveals that Enter. */
const COMPOSING_KEY_CODE = 229;

export function isComposing(key: Key): boolean {
  return key.isComposing || key.keyCode === COMPOSING_KEY_CODE;
}

/** In the composer. `empty`: nothing is typed. `enterSends` is false on touch keyboards, which have no Shift+Enter.
 * "steer" hands the message to the running reply. */
export function composerAction(key: Key, empty: boolean, enterSends: boolean): "send" | "steer" | "edit-last" | null {
  if (isComposing(key) || key.altKey) return null;
  if (key.key === "Enter") {
    const modified = key.ctrlKey || key.metaKey;
    // Where Enter breaks the line, Ctrl+Enter sends, so steering takes Shift as well.
    if (modified && key.shiftKey !== enterSends) return "steer";
    return !key.shiftKey && (enterSends || modified) ? "send" : null;
  }
  if (key.key === "ArrowUp" && empty && !key.shiftKey && !key.ctrlKey && !key.metaKey) return "edit-last";
  return null;
}

/** In the editor of an existing message. */
export function editorAction(key: Key, enterSends: boolean): "send" | "leave" | null {
  if (isComposing(key) || key.altKey) return null;
  if (key.key === "Escape") return "leave";
  const action = composerAction(key, false, enterSends);
  return action === "send" || action === "steer" ? "send" : null;
}
