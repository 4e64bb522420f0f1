import { describe, expect, it } from "vitest";

import { Shell } from "../../src/shell/shell.svelte";

describe("the shell", () => {
  it("knows the current screen and the last chat", () => {
    const shell = new Shell(() => {});
    shell.onHashChange("#/c/a1");
    shell.onHashChange("#/settings/keys");
    expect(shell.screen).toBe("settings");
    expect(shell.route.section).toBe("keys");
    expect(shell.lastChatAddress).toBe("#/c/a1");
  });

  it("closes overlays on navigation", () => {
    const went: string[] = [];
    const shell = new Shell((hash) => went.push(hash));
    shell.show("palette");
    shell.drawerOpen = true;
    shell.navigate("#/models");
    expect(shell.overlay).toBeNull();
    shell.onHashChange("#/models");
    expect(shell.drawerOpen).toBe(false);
    expect(went).toEqual(["#/models"]);
  });
});
