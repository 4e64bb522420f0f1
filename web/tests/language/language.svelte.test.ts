import { afterEach, describe, expect, it } from "vitest";

import { german } from "../../src/language/de";
import { shell } from "../../src/language/en/shell";
import { currentLanguage, preferredLanguage, setLanguage } from "../../src/language/language.svelte";

afterEach(() => setLanguage("en"));

describe("the page's language", () => {
  it("is the first of the browser's that there are words in", () => {
    expect(preferredLanguage(["fr-FR", "de-AT", "en"])).toBe("de");
    expect(preferredLanguage(["fr", "es"])).toBe("en");
    expect(preferredLanguage([])).toBe("en");
  });

  it("changes every word at once", async () => {
    expect(shell().newChat).toBe("New chat");
    await setLanguage("de");
    expect(currentLanguage()).toBe("de");
    expect(shell()).toBe(german.shell);
  });

  it("is the last one requested, whichever loads first", async () => {
    await Promise.all([setLanguage("de"), setLanguage("en")]);
    expect(currentLanguage()).toBe("en");
  });
});
