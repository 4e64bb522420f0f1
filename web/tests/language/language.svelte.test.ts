import { afterEach, describe, expect, it } from "vitest";

import type { Catalogue } from "../../src/language/catalogue";
import { german } from "../../src/language/de";
import { shell } from "../../src/language/en/shell/shell";
import { spanish } from "../../src/language/es";
import { french } from "../../src/language/fr";
import { currentLanguage, type Language, LANGUAGES, preferredLanguage, setLanguage } from "../../src/language/language.svelte";

const CATALOGUES: Readonly<Record<Exclude<Language, "en">, Catalogue>> = { de: german, fr: french, es: spanish };
const OTHERS = Object.keys(CATALOGUES) as (keyof typeof CATALOGUES)[];

afterEach(() => setLanguage("en"));

describe("the page's language", () => {
  it("is the first of the browser's that there are words in", () => {
    expect(preferredLanguage(["it-IT", "de-AT", "fr"])).toBe("de");
    expect(preferredLanguage(["fr-CA", "en"])).toBe("fr");
    expect(preferredLanguage(["it", "nl"])).toBe("en");
    expect(preferredLanguage([])).toBe("en");
  });

  it.each(OTHERS)("changes every word at once: %s", async (language) => {
    expect(shell().newChat).toBe("New chat");
    await setLanguage(language);
    expect(currentLanguage()).toBe(language);
    expect(shell()).toBe(CATALOGUES[language].shell);
  });

  it("is any of those that can be chosen", () => {
    expect(Object.keys(LANGUAGES).sort()).toEqual(["en", ...OTHERS].sort());
    for (const language of Object.keys(LANGUAGES)) expect(preferredLanguage([language])).toBe(language);
  });

  it("is the last one requested, whichever loads first", async () => {
    await Promise.all([setLanguage("de"), setLanguage("en")]);
    expect(currentLanguage()).toBe("en");
    await Promise.all([setLanguage("fr"), setLanguage("de")]);
    expect(currentLanguage()).toBe("de");
  });
});
