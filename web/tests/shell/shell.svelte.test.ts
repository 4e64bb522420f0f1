import { describe, expect, it } from "vitest";

import { Shell } from "../../src/shell/shell.svelte";

describe("the shell", () => {
  it("knows which screen is in sight, and the chat one came from", () => {
    const shell = new Shell(() => {});
    shell.arrive("#/c/a1");
    shell.arrive("#/settings/keys");
    expect(shell.screen).toBe("settings");
    expect(shell.place.section).toBe("keys");
    expect(shell.chat).toBe("#/c/a1");
  });

  it("takes away what lies over the page when one goes elsewhere", () => {
    const went: string[] = [];
    const shell = new Shell((hash) => went.push(hash));
    shell.show("palette");
    shell.drawn = true;
    shell.go("#/models");
    expect(shell.overlay).toBeNull();
    shell.arrive("#/models");
    expect(shell.drawn).toBe(false);
    expect(went).toEqual(["#/models"]);
  });
});
