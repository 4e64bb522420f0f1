import { beforeEach, describe, expect, it } from "vitest";

import { Models } from "../../src/models/models.svelte";
import { EventStream } from "../../src/wire/transport/event_stream";
import { type Download, ModelsClient, type ModelsOverview } from "../../src/wire/models";
import { FakeClock } from "../clock";
import { settle } from "../server";

const overview: ModelsOverview = { folder: "/m", hardware: {}, loaded: [], here: [], unfinished: [], available: [], downloads: [] };
const download: Download = { id: "d1", name: "tiny", what: "tiny", state: "running", total: 100, done: 10 };

let clock: FakeClock;
let requests: string[];
let answers: Record<string, () => Response>;
let changed: number;
let said: string[];
let models: Models;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  changed = 0;
  said = [];
  answers = { "GET api/models": () => Response.json(overview) };
  const fetch = async (address: string, init: RequestInit = {}) => {
    const what = `${init.method ?? "GET"} ${address}`;
    requests.push(what);
    return answers[what]?.() ?? new Response("{}", { status: 404 });
  };
  models = new Models({
    client: new ModelsClient(fetch),
    clock,
    stream: (address, listener) => new EventStream(fetch, clock, address, listener),
    onModelsChanged: () => void changed++,
    notify: (sentence) => said.push(sentence),
  });
});

const lines = (...events: object[]) => () => new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));

describe("the models page", () => {
  it("follows a load to its end, and lets the rest of the page know", async () => {
    const seen: (number | null)[] = [];
    answers["POST v1/model/load"] = lines({ status: "processing", progress: 0.5 }, { status: "finished", progress: 1 });
    const load = models.load({ name: "tiny" });
    seen.push(...models.loading.map(({ progress }) => progress));
    await load;
    expect(seen).toEqual([null]);
    expect(models.loading).toEqual([]);
    expect(changed).toBe(1);
  });

  it("keeps the server's reason when a load fails, until it is dismissed", async () => {
    answers["POST v1/model/load"] = () => Response.json({ error: { code: "not_enough_memory", message: "It needs 9 GB." } }, { status: 409 });
    await models.load({ name: "big" });
    expect(models.loading[0]).toMatchObject({ name: "big", problem: "It needs 9 GB.", code: "not_enough_memory" });
    models.dismiss("big");
    expect(models.loading).toEqual([]);
  });

  it("reports a load that fails midway", async () => {
    answers["POST v1/model/load"] = lines({ status: "processing" }, { status: "failed", error: { code: "model_failed", message: "The file is broken." } });
    await models.load({ name: "bad" });
    expect(models.loading[0]).toMatchObject({ problem: "The file is broken.", code: "model_failed" });
  });

  it("follows a download's events, and reloads when it is done", async () => {
    await models.refresh();
    models.handleEvent(JSON.stringify({ type: "download", download }));
    models.handleEvent(JSON.stringify({ type: "download", download: { ...download, done: 60 } }));
    expect(models.downloads).toMatchObject([{ done: 60 }]);
    requests = [];
    models.handleEvent(JSON.stringify({ type: "download", download: { ...download, state: "done" } }));
    expect(models.downloads).toEqual([]);
    clock.pass(200);
    await settle();
    expect(requests).toEqual(["GET api/models"]);
  });

  it("says why a download cannot begin", async () => {
    answers["POST api/models/downloads"] = () => Response.json({ error: { code: "unknown_model", message: "There is no such model." } }, { status: 404 });
    expect(await models.download("nobody/nothing")).toBe("There is no such model.");
  });

  it("minds no event it does not know", () => {
    for (const data of ["{", "null", '{"type":"weather"}']) models.handleEvent(data);
    expect(requests).toEqual([]);
  });
});
