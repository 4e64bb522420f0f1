import { beforeEach, describe, expect, it } from "vitest";

import { forLanguage, VoicePacks } from "../../src/settings/voice_packs.svelte";
import { EventStream } from "../../src/wire/transport/event_stream";
import { type PackJob, type PacksOverview, type VoicePack, VoicePacksClient } from "../../src/wire/voice/voice_packs";
import { FakeClock } from "../clock";
import { settle } from "../server";

const model = { name: "m", title: "M", does: "", size: 1, licence: "MIT", source: "" };
const pack = (name: string, ...languages: string[]): VoicePack => ({ name, title: name, variant: "", languages, size: 2, missing: 2, unfinished: 0, installed: false, active: false, fit: "good", recogniser: model, speaker: model });
const job: PackJob = { pack: "german", state: "downloading", total: 2, done: 1, rate: 1, left: 1, error: null };
const overview: PacksOverview = { packs: [pack("german", "de")], active: "built-in", settings: "", problem: null, job: null };

let clock: FakeClock;
let requests: string[];
let answers: Record<string, () => Response>;
let changed: number;
let packs: VoicePacks;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  changed = 0;
  answers = { "GET api/voice/packs": () => Response.json(overview) };
  const fetch = async (address: string, init: RequestInit = {}) => {
    const what = `${init.method ?? "GET"} ${address}`;
    requests.push(what);
    return answers[what]?.() ?? new Response("{}", { status: 404 });
  };
  packs = new VoicePacks({
    client: new VoicePacksClient(fetch),
    clock,
    stream: (address, listener) => new EventStream(fetch, clock, address, listener),
    onVoiceChanged: () => void changed++,
  });
});

const tell = (event: object) => packs.handleEvent(JSON.stringify(event));

describe("the voice packs", () => {
  it("show the pack at work in its row until it is in use", async () => {
    await packs.refresh();
    answers["POST api/voice/packs/german"] = () => Response.json(job);
    await packs.use("german");
    expect(packs.jobOf("german")?.done).toBe(1);
    expect(packs.jobOf("french")).toBeNull();
    tell({ type: "pack", job: { ...job, state: "done" } });
    expect(packs.jobOf("german")).toBeNull();
    expect(changed).toBe(1);
  });

  it("say a refusal in the row that was clicked, until it is tried again", async () => {
    await packs.refresh();
    answers["POST api/voice/packs/german"] = () => Response.json({ error: { code: "pack_running", message: "Wait." } }, { status: 409 });
    await packs.use("german");
    expect(packs.refusal("german")).toBe("Wait.");
    expect(packs.refusal("french")).toBe("");
    answers["POST api/voice/packs/german"] = () => Response.json(job);
    await packs.use("german");
    expect(packs.refusal("german")).toBe("");
  });

  it("hide a failed pack that was dismissed, and show it again when it is tried again", async () => {
    const failed: PackJob = { ...job, state: "failed", error: { code: "disk_full", message: "Full." } };
    answers["GET api/voice/packs"] = () => Response.json({ ...overview, job: failed });
    await packs.refresh();
    expect(packs.jobOf("german")?.error?.message).toBe("Full.");
    packs.dismiss();
    await packs.refresh();
    expect(packs.jobOf("german")).toBeNull();
    answers["POST api/voice/packs/german"] = () => Response.json(job);
    await packs.use("german");
    expect(packs.jobOf("german")?.state).toBe("downloading");
  });

  it("read the list again once after several changes", async () => {
    await packs.refresh();
    tell({ type: "packs" });
    tell({ type: "packs" });
    tell({ type: "unknown" });
    clock.pass(200);
    await settle();
    expect(requests.filter((what) => what === "GET api/voice/packs")).toHaveLength(2);
  });

  it("list those for the page's language first", () => {
    const all = [pack("english", "en"), pack("chinese", "zh", "en"), pack("german", "de")];
    expect(forLanguage(all, "de").map(({ name }) => name)).toEqual(["german", "english", "chinese"]);
    expect(forLanguage(all, "fr").map(({ name }) => name)).toEqual(["english", "chinese", "german"]);
  });
});
