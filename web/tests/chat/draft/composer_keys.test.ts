import { describe, expect, it } from "vitest";

import { composerAction, editorAction, type Key } from "../../../src/chat/draft/composer_keys";

function press(key: string, more: Partial<Key> = {}): Key {
  return { key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, keyCode: 0, ...more };
}

describe("in the composer", () => {
  it("Enter sends, Shift+Enter does not", () => {
    expect(composerAction(press("Enter"), false, true)).toBe("send");
    expect(composerAction(press("Enter", { shiftKey: true }), false, true)).toBeNull();
  });

  it("Enter never sends while an input method composes", () => {
    expect(composerAction(press("Enter", { isComposing: true }), false, true)).toBeNull();
    expect(composerAction(press("Enter", { keyCode: 229 }), false, true)).toBeNull();
  });

  it("on a touch keyboard Enter begins a new line, with Ctrl or Cmd it sends", () => {
    expect(composerAction(press("Enter"), false, false)).toBeNull();
    expect(composerAction(press("Enter", { ctrlKey: true }), false, false)).toBe("send");
    expect(composerAction(press("Enter", { metaKey: true }), false, false)).toBe("send");
  });

  it("Ctrl or Cmd makes it hurry where Enter alone sends, and with Shift where it does not", () => {
    expect(composerAction(press("Enter", { ctrlKey: true }), false, true)).toBe("steer");
    expect(composerAction(press("Enter", { metaKey: true }), false, true)).toBe("steer");
    expect(composerAction(press("Enter", { ctrlKey: true, shiftKey: true }), false, true)).toBeNull();
    expect(composerAction(press("Enter", { ctrlKey: true, shiftKey: true }), false, false)).toBe("steer");
    expect(composerAction(press("Enter", { shiftKey: true }), false, false)).toBeNull();
  });

  it("Up edits the last message, when nothing is typed", () => {
    expect(composerAction(press("ArrowUp"), true, true)).toBe("edit-last");
    expect(composerAction(press("ArrowUp"), false, true)).toBeNull();
    expect(composerAction(press("ArrowUp", { shiftKey: true }), true, true)).toBeNull();
  });
});

describe("in a message's editor", () => {
  it("Escape leaves and Enter sends, but not while composing", () => {
    expect(editorAction(press("Escape"), true)).toBe("leave");
    expect(editorAction(press("Enter"), true)).toBe("send");
    expect(editorAction(press("Enter", { ctrlKey: true }), true)).toBe("send");
    expect(editorAction(press("Escape", { isComposing: true }), true)).toBeNull();
    expect(editorAction(press("ArrowUp"), true)).toBeNull();
  });
});
