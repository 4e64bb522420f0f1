import { describe, expect, it } from "vitest";

import { extensionOf, languageNamed, NAMED, withEmbedded } from "../../../src/markdown/highlight/languages";

describe("a language", () => {
  it("goes by several names, in any case", () => {
    expect(["py", "Python", "C++", "html", "tsx", "yml", "sh"].map(languageNamed)).toEqual(["python", "python", "cpp", "xml", "typescript", "yaml", "bash"]);
    expect(["", "klingon", "constructor"].map(languageNamed)).toEqual([null, null, null]);
  });

  it("is loaded with the languages it embeds, each once", () => {
    expect([...withEmbedded("xml")].sort()).toEqual(["css", "javascript", "xml"]);
    expect([...withEmbedded("python")]).toEqual(["python"]);
  });

  it("names its files", () => {
    expect(["python", "html", "svg", "toml", "tsx", "rs", "klingon", ""].map(extensionOf)).toEqual(["py", "html", "svg", "toml", "tsx", "rs", "txt", "txt"]);
  });

  it("is one of about fifty, so that what people paste is nearly always among them", () => {
    expect(NAMED.length).toBeGreaterThan(40);
  });
});
