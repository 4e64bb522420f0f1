import { describe, expect, it } from "vitest";

import { actionOf, ACTIONS, bindingsOf, canBind, DEFAULT_SHORTCUTS, isMac, keyLabels, keysOf, type PressedKey } from "../../src/shell/shortcuts";

function press(key: string, code: string, held: Partial<PressedKey> = {}): PressedKey {
  return { key, code, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, keyCode: 0, ...held };
}

describe("a pressed key", () => {
  it("is written with its modifiers, Ctrl or Cmd as the machine has it", () => {
    expect(keysOf(press("O", "KeyO", { shiftKey: true, ctrlKey: true }), false)).toBe("Mod+Shift+O");
    expect(keysOf(press("o", "KeyO", { shiftKey: true, metaKey: true }), true)).toBe("Mod+Shift+O");
    expect(keysOf(press("k", "KeyK", { metaKey: true }), false)).toBe("");
  });

  it("is the key that was struck, whatever Alt makes of it", () => {
    expect(keysOf(press("µ", "KeyM", { altKey: true, shiftKey: true }), true)).toBe("Alt+Shift+M");
  });

  it("is where a Latin letter stands, on keyboards of other scripts", () => {
    expect(keysOf(press("л", "KeyK", { ctrlKey: true }), false)).toBe("Mod+K");
  });

  it("keeps to the letter that is written on it, wherever that stands", () => {
    expect(keysOf(press("k", "KeyV", { ctrlKey: true }), false)).toBe("Mod+K");
  });

  it("says nothing of the Shift a character needs anyway", () => {
    expect(keysOf(press("?", "Slash", { shiftKey: true, ctrlKey: true }), false)).toBe("Mod+?");
    expect(keysOf(press("/", "Digit7", { shiftKey: true, ctrlKey: true }), false)).toBe("Mod+/");
  });

  it("means nothing alone as a modifier, or while a word is being composed", () => {
    expect(keysOf(press("Shift", "ShiftLeft", { shiftKey: true }), false)).toBe("");
    expect(keysOf(press("Escape", "Escape", { isComposing: true }), false)).toBe("");
  });
});

describe("the keys of actions", () => {
  it("are each other's nowhere", () => {
    const used = ACTIONS.map((action) => DEFAULT_SHORTCUTS[action]).filter((keys) => keys !== "");
    expect(new Set(used).size).toBe(used.length);
    expect(used.every(canBind)).toBe(true);
  });

  it("are a person's own first, which takes them from who had them", () => {
    const bindings = bindingsOf({ theme: "Mod+K" });
    expect(actionOf("Mod+K", bindings)).toBe("theme");
    expect(bindings.palette).toBe("");
    expect(actionOf("Mod+B", bindings)).toBe("sidebar");
  });

  it("can be taken away", () => {
    expect(actionOf("Escape", bindingsOf({ stop: "" }))).toBeNull();
    expect(actionOf("", bindingsOf({ stop: "" }))).toBeNull();
  });

  it("are never a lone character, which is for typing", () => {
    expect(["A", "Shift+A", "ArrowUp", "1"].some(canBind)).toBe(false);
    expect(["Mod+A", "Alt+1", "F2", "Escape"].every(canBind)).toBe(true);
  });

  it("are shown as they stand on the keyboard", () => {
    expect(keyLabels("Mod+Shift+O", false, { Mod: "Ctrl" })).toEqual(["Ctrl", "Shift", "O"]);
    expect(keyLabels("Mod+Shift+ArrowUp", false, { Mod: "Strg", Shift: "Umschalt" })).toEqual(["Strg", "Umschalt", "↑"]);
    expect(keyLabels("Alt+Shift+ArrowUp", true, { Shift: "Umschalt" })).toEqual(["⌥", "⇧", "↑"]);
    expect(keyLabels("", false, {})).toEqual([]);
    expect([isMac("MacIntel"), isMac("Linux x86_64")]).toEqual([true, false]);
  });
});
