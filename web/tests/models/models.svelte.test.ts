import { beforeEach, describe, expect, it } from "vitest";

import { Models } from "../../src/models/models.svelte";
import { EventStream } from "../../src/wire/transport/event_stream";
import { type Download, ModelsClient, type ModelsOverview } from "../../src/wire/models/models";
import { FakeClock } from "../clock";
import { settle } from "../server";

const overview: ModelsOverview = { folder: "/m", hardware: null, loaded: [], here: [], unfinished: [], available: [], downloads: [] };
const download: Download = { id: "d1", name: "tiny", what: "tiny", state: "running", total: 100, done: 10 };

let clock: FakeClock;
let requests: string[];
let answers: Record<string, () => Response>;
let changed: number;
let defaults: number;
let said: string[];
let models: Models;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  changed = defaults = 0;
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
    onNewDefault: () => void defaults++,
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

  it("lets new chats follow a model that was loaded as, or made, the default", async () => {
    answers["POST v1/model/load"] = lines({ status: "finished", progress: 1 });
    await models.load({ name: "tiny" });
    expect(defaults).toBe(0);
    await models.load({ name: "tiny", default: true });
    answers["PUT api/models/default"] = () => Response.json({ default: "tiny" });
    await models.makeDefault("tiny");
    expect(defaults).toBe(2);
    delete answers["PUT api/models/default"];
    await models.makeDefault("tiny");
    expect([defaults, said.length]).toEqual([2, 1]);
  });

  it("tries a remembered model again, with the reason if that fails, and forgets one", async () => {
    answers["POST api/models/remembered/a%2Ftiny/retry"] = lines({ status: "failed", error: { code: "load_failed", message: "It broke." } });
    await models.retry("a/tiny");
    expect(models.loading[0]).toMatchObject({ name: "a/tiny", problem: "It broke.", code: "load_failed" });
    answers["DELETE api/models/remembered/a%2Ftiny"] = () => Response.json({ forgotten: "a/tiny" });
    await models.forget("a/tiny");
    expect([requests.at(-1), said]).toEqual(["GET api/models", []]);
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
    expect(models.overview?.downloads).toMatchObject([{ done: 60 }]);
    requests = [];
    models.handleEvent(JSON.stringify({ type: "download", download: { ...download, state: "done" } }));
    expect(models.overview?.downloads).toMatchObject([{ state: "done" }]);
    clock.pass(200);
    await settle();
    expect(requests).toEqual(["GET api/models"]);
  });

  it("makes new chats use a model that was downloaded to be used", async () => {
    await models.refresh();
    models.handleEvent(JSON.stringify({ type: "download", download: { ...download, state: "done", use: true } }));
    expect([changed, defaults]).toEqual([1, 1]);
  });

  it("replaces a download that ended by the next attempt", async () => {
    answers["GET api/models"] = () => Response.json({ ...overview, downloads: [{ ...download, state: "failed" }] });
    answers["POST api/models/downloads"] = () => Response.json({ ...download, id: "d2", use: true });
    await models.refresh();
    expect(await models.download("tiny", true)).toBe("");
    expect(models.overview?.downloads).toMatchObject([{ id: "d2", state: "running", use: true }]);
  });

  it("says why a download cannot begin", async () => {
    answers["POST api/models/downloads"] = () => Response.json({ error: { code: "unknown_model", message: "There is no such model." } }, { status: 404 });
    expect(await models.download("nobody/nothing")).toBe("There is no such model.");
    expect(models.refusal("nobody/nothing")).toBe("There is no such model.");
  });

  it("minds no event it does not know", () => {
    for (const data of ["{", "null", '{"type":"weather"}']) models.handleEvent(data);
    expect(requests).toEqual([]);
  });
});
