import { afterEach, describe, expect, it } from "vitest";

import { german } from "../../src/language/de";
import { shell } from "../../src/language/en/shell";
import { currentTongue, preferredTongue, speak } from "../../src/language/language.svelte";

afterEach(() => speak("en"));

describe("the page's language", () => {
  it("is the first of the browser's that there are words in", () => {
    expect(preferredTongue(["fr-FR", "de-AT", "en"])).toBe("de");
    expect(preferredTongue(["fr", "es"])).toBe("en");
    expect(preferredTongue([])).toBe("en");
  });

  it("changes every word at once", async () => {
    expect(shell().newChat).toBe("New chat");
    await speak("de");
    expect(currentTongue()).toBe("de");
    expect(shell()).toBe(german.shell);
  });

  it("is the last one asked for, whichever arrives first", async () => {
    await Promise.all([speak("de"), speak("en")]);
    expect(currentTongue()).toBe("en");
  });
});
