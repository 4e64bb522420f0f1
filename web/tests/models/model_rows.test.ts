import { readFileSync } from "node:fs";

import { afterEach, describe, expect, it } from "vitest";

import { models } from "../../src/language/en/models/models";
import { setLanguage } from "../../src/language/language.svelte";
import { abilitiesOf, descriptionOf, matchesFilter, modelRows } from "../../src/models/model_rows";
import type { AvailableModel, Download, Fit, LoadedModel, LocalModel, ModelsOverview } from "../../src/wire/models/models";

const known = (name: string, fit: Fit | null): AvailableModel => ({ name, title: name.toUpperCase(), size: 10, fit, licence: "MIT", languages: { count: 1, more: false, named: ["de"] } });
const local = (name: string, fit: Fit | null = null): LocalModel => ({ name, size: 11, fit });
const worker = (name: string, state: LoadedModel["state"] = "ready"): LoadedModel => ({ name, worker: `w-${name}`, engine: "llama", state });
const download = (name: string, state: Download["state"]): Download => ({ id: name, name, what: name, state, total: 0, done: 0 });

function overview(parts: Partial<ModelsOverview>): ModelsOverview {
  return { folder: "/m", hardware: null, loaded: [], here: [], unfinished: [], available: [], downloads: [], ...parts };
}

const names = (parts: Partial<ModelsOverview>) => modelRows(overview(parts), []).map(({ name, group }) => `${group} ${name}`);

describe("the rows of models", () => {
  it("group models by how they would run", () => {
    const available = [known("a", "good"), known("b", "card"), known("c", "slow"), known("d", "memory"), known("e", "disk"), known("f", null)];
    expect(names({ available })).toEqual(["well a", "well b", "slow c", "not d", "not e", "other f"]);
  });

  it("are one for each model, however it is known", () => {
    const rows = modelRows(overview({ available: [known("a", "good")], here: [local("a", "good")], loaded: [worker("a")], downloads: [download("a", "running")] }), []);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ title: "A", size: 11, isDefault: true, download: { state: "running" } });
  });

  it("list what is loaded first, then what is proposed, then what is on this machine", () => {
    const available = [known("a", "good"), known("b", "good"), known("c", "good"), known("d", "good")];
    expect(names({ available, here: [local("c", "good")], loaded: [worker("d")], proposed: "b" })).toEqual(["well d", "well b", "well c", "well a"]);
  });

  it("keep a loaded model among those that run well, though its memory is in use", () => {
    expect(names({ available: [known("a", "memory")], loaded: [worker("a")] })).toEqual(["well a"]);
    expect(names({ available: [known("a", "slow")], loaded: [worker("a")] })).toEqual(["slow a"]);
    expect(names({ loaded: [worker("remote")] })).toEqual(["well remote"]);
  });

  it("leave out downloads that are done, and keep those that failed", () => {
    const rows = modelRows(overview({ available: [known("a", "good"), known("b", "good")], downloads: [download("a", "done"), download("b", "failed")] }), []);
    expect(rows.map((row) => row.download?.state ?? "")).toEqual(["", "failed"]);
  });

  it("name the default where the server says which it is", () => {
    const rows = modelRows(overview({ loaded: [{ ...worker("a"), default: false }, { ...worker("b"), default: true }] }), []);
    expect(rows.map(({ isDefault }) => isDefault)).toEqual([false, true]);
  });

  it("say which models write replies, by their files or their workers", () => {
    const rows = modelRows(overview({ here: [local("a", "good"), { ...local("b", "good"), task: "embed" }], loaded: [{ ...worker("c"), task: "rerank" }] }), []);
    expect(Object.fromEntries(rows.map(({ name, chats }) => [name, chats]))).toEqual({ a: true, b: false, c: false });
  });

  it("are found by words of what they say, in any order", () => {
    const [row] = modelRows(overview({ available: [known("qwen", "good")] }), []);
    expect(["", "qw", "mit german", "GERMAN qwen"].every((filter) => matchesFilter(row!, filter))).toBe(true);
    expect(matchesFilter(row!, "qwen french")).toBe(false);
  });
});

describe("what a model is good for", () => {
  const told = (about: Partial<AvailableModel>) => descriptionOf(modelRows(overview({ available: [{ ...known("a", "good"), ...about }] }), [])[0]!);

  afterEach(() => setLanguage("en"));

  it("is a sentence in the page's language", async () => {
    expect(told({ traits: ["small", "long_memory"], description: "Small." })).toBe("Small, very long memory.");
    await setLanguage("de");
    expect(told({ traits: ["small", "long_memory"], description: "Small." })).toBe("Klein, sehr langes Gedächtnis.");
  });

  it("is the server's own sentence where the page does not know a code, or there is none", () => {
    expect(told({ traits: ["small", "purple"], description: "Small and purple." })).toBe("Small and purple.");
    expect(told({ description: "Small." })).toBe("Small.");
    expect(told({})).toBe("");
  });

  it("has words for every code of the server's list", () => {
    const list = readFileSync(new URL("../../../src/duologue/models/recommended.toml", import.meta.url), "utf8");
    const codes = new Set([...list.matchAll(/^traits = (\[.*\])$/gm)].flatMap(([, codes]) => JSON.parse(codes!) as string[]));
    expect(codes.size).toBeGreaterThan(10);
    expect([...codes].filter((code) => !(code in models().traits))).toEqual([]);
  });

  it("is searched by the filter in the words that are shown", async () => {
    const [row] = modelRows(overview({ available: [{ ...known("a", "good"), traits: ["small"] }] }), []);
    expect(matchesFilter(row!, "small")).toBe(true);
    await setLanguage("de");
    expect(matchesFilter(row!, "klein")).toBe(true);
  });
});

describe("what a model can do here", () => {
  it("is what is known of it, until it is here", () => {
    expect(abilitiesOf(["tools", "vision"], undefined)).toEqual(["tools", "vision"]);
  });

  it("does not include eyes or ears without a projector", () => {
    expect(abilitiesOf(["tools", "vision", "sound"], ["text"])).toEqual(["tools"]);
    expect(abilitiesOf([], ["text", "image", "audio"])).toEqual(["vision", "sound"]);
  });
});
