import { beforeEach, describe, expect, it } from "vitest";

import { ConnectForm } from "../../src/upstreams/connect_form.svelte";
import { Upstreams } from "../../src/upstreams/upstreams.svelte";
import { type Provider, type Upstream, UpstreamsClient, type UpstreamTest } from "../../src/wire/models/upstreams";

const box: Upstream = {
  name: "box",
  kind: "other",
  title: "box",
  url: "http://box/v1",
  has_key: true,
  chosen: null,
  enabled: true,
  state: "ready",
  problem: null,
  modalities: {},
  outputs: {},
  timeouts: {},
  models: [{ name: "a", context: null, tools: null, modalities: null, outputs: ["text"] }],
  offered: ["a"],
};
const openai: Provider = { kind: "openai", title: "OpenAI", url: "https://api.openai.com/v1", keys: "https://platform.openai.com/api-keys" };
const good: UpstreamTest = { kind: "other", models: box.models, asked: "a", reply: "Hello", problem: null };
const refusal = (message: string) => () => Response.json({ error: { code: "bad_url", message } }, { status: 400 });

let requests: { readonly what: string; readonly body: unknown }[];
let answers: Record<string, () => Response | Promise<Response>>;
let changed: number;
let said: string[];
let client: UpstreamsClient;
let upstreams: Upstreams;

beforeEach(() => {
  requests = [];
  changed = 0;
  said = [];
  answers = { "GET api/upstreams": () => Response.json({ upstreams: [box], providers: [openai] }) };
  client = new UpstreamsClient(async (address, init = {}) => {
    const what = `${init.method ?? "GET"} ${address}`;
    requests.push({ what, body: typeof init.body === "string" ? JSON.parse(init.body) : undefined });
    return answers[what]?.() ?? new Response("{}", { status: 404 });
  });
  upstreams = new Upstreams({ client, onModelsChanged: () => void changed++, notify: (sentence) => said.push(sentence) });
});

const bodyOf = (what: string) => requests.findLast((request) => request.what === what)?.body;

describe("connected servers", () => {
  it("are listed with the services", async () => {
    await upstreams.refresh();
    expect(upstreams.list).toEqual([box]);
    expect(upstreams.providers).toEqual([openai]);
  });

  it("are looked for on this machine, and finding none is no error", async () => {
    const looking = upstreams.discover();
    expect(upstreams.found).toBeNull();
    await looking;
    expect(upstreams.found).toEqual([]);
  });

  it("are connected, which changes the models that can be chosen", async () => {
    answers["POST api/upstreams"] = () => Response.json(box, { status: 201 });
    const connecting = upstreams.connect({ url: "http://box" });
    expect(upstreams.connecting).toBe("http://box");
    expect(await connecting).toBe("");
    expect(upstreams.connecting).toBe("");
    expect(changed).toBe(1);
    expect(upstreams.list).toEqual([box]);
  });

  it("say why they cannot be removed or turned off", async () => {
    answers["DELETE api/upstreams/box"] = refusal("It is not there.");
    answers["PATCH api/upstreams/box"] = refusal("It is busy.");
    await upstreams.remove("box");
    await upstreams.setEnabled("box", false);
    expect(said).toEqual(["It is not there.", "It is busy."]);
  });
});

describe("the form for a server", () => {
  it("tests an address with its key and shows what was found", async () => {
    answers["POST api/upstreams/test"] = () => Response.json(good);
    const form = new ConnectForm(client, upstreams);
    expect(form.isComplete).toBe(false);
    form.url = " http://box ";
    form.key = "secret";
    await form.test();
    expect(bodyOf("POST api/upstreams/test")).toEqual({ url: "http://box", kind: "other", key: "secret" });
    expect(form.result).toEqual(good);
    expect(form.problem).toBe("");
    form.key = "another";
    expect(form.result).toBeNull();
  });

  it("shows what went wrong in a test", async () => {
    answers["POST api/upstreams/test"] = () => Response.json({ ...good, problem: { code: "upstream_refused", message: "Wrong key." } });
    const form = new ConnectForm(client, upstreams);
    form.url = "http://box";
    await form.test();
    expect(form.problem).toBe("Wrong key.");
    answers["POST api/upstreams/test"] = refusal("No address.");
    await form.test();
    expect(form.problem).toBe("No address.");
  });

  it("drops the answer about an address that has been changed since", async () => {
    let answer: (response: Response) => void = () => {};
    answers["POST api/upstreams/test"] = () => new Promise((resolve) => (answer = resolve));
    const form = new ConnectForm(client, upstreams);
    form.url = "http://old";
    const testing = form.test();
    expect(form.busy).toBe("testing");
    form.url = "http://new";
    answer(Response.json(good));
    await testing;
    expect(form.result).toBeNull();
    expect(form.busy).toBe("");
  });

  it("needs only a key for a service", async () => {
    answers["POST api/upstreams"] = () => Response.json(box, { status: 201 });
    const form = new ConnectForm(client, upstreams);
    form.select(openai);
    form.key = "sk-1";
    expect(await form.save()).toBe(true);
    expect(bodyOf("POST api/upstreams")).toEqual({ url: openai.url, kind: "openai", key: "sk-1" });
    form.clear();
    expect([form.kind, form.url, form.key]).toEqual(["other", "", ""]);
  });

  it("keeps what was entered when the server cannot be connected", async () => {
    answers["POST api/upstreams"] = refusal("No address.");
    const form = new ConnectForm(client, upstreams);
    form.url = "nonsense";
    expect(await form.save()).toBe(false);
    expect([form.problem, form.url, form.busy]).toEqual(["No address.", "nonsense", ""]);
  });

  it("changes only what was changed, and tests with the stored key", async () => {
    answers["PATCH api/upstreams/box"] = () => Response.json(box);
    answers["POST api/upstreams/test"] = () => Response.json(good);
    const form = new ConnectForm(client, upstreams, box);
    await form.test();
    expect(bodyOf("POST api/upstreams/test")).toEqual({ url: box.url, kind: "other", name: "box" });
    expect(await form.save()).toBe(true);
    expect(bodyOf("PATCH api/upstreams/box")).toEqual({ models: null });
    form.useAll(false);
    form.choose("b", true);
    form.choose("a", false);
    form.key = "new";
    await form.save();
    expect(bodyOf("PATCH api/upstreams/box")).toEqual({ key: "new", models: ["b"] });
  });

  it("has a person say what a model takes, beginning with what is known of it", async () => {
    answers["PATCH api/upstreams/box"] = () => Response.json(box);
    const sees = { ...box.models[0]!, name: "sees", modalities: ["text", "image"] };
    const form = new ConnectForm(client, upstreams, { ...box, models: [...box.models, sees], modalities: { old: ["video"] } });
    expect([form.said("a"), form.said("sees"), form.said("old")]).toEqual([null, null, ["video"]]);
    form.sayMyself("sees", true);
    expect(form.said("sees")).toEqual(["image"]);
    form.say("sees", "video", true);
    form.say("sees", "audio", true);
    form.say("sees", "image", false);
    expect(form.said("sees")).toEqual(["audio", "video"]);
    form.sayMyself("a", true);
    expect(form.said("a")).toEqual([]);
    form.sayMyself("old", false);
    await form.save();
    expect(bodyOf("PATCH api/upstreams/box")).toEqual({ models: null, modalities: { sees: ["audio", "video"], a: [] } });
  });

  it("is waited for as long as the admin says, and else as long as usual", async () => {
    const form = new ConnectForm(client, upstreams, { ...box, timeouts: { first_timeout: 30, retries: 0 } });
    expect([form.timeout("first_timeout"), form.timeout("idle_timeout")]).toEqual([30, null]);
    form.limit("first_timeout", Number.NaN);
    form.limit("idle_timeout", 45);
    expect([form.timeout("first_timeout"), form.timeout("idle_timeout")]).toEqual([null, 45]);
    answers["PATCH api/upstreams/box"] = () => Response.json(box);
    expect(await form.save()).toBe(true);
    expect(bodyOf("PATCH api/upstreams/box")).toEqual({ models: null, timeouts: { retries: 0, idle_timeout: 45 } });
  });

  it("has a person say whether a model speaks", async () => {
    answers["PATCH api/upstreams/box"] = () => Response.json(box);
    const speaks = { ...box.models[0]!, name: "speaks", modalities: ["text", "audio"], outputs: ["text", "audio"] };
    const form = new ConnectForm(client, upstreams, { ...box, models: [...box.models, speaks], outputs: { old: ["audio"], speaks: ["audio"] } });
    expect([form.speaks("a"), form.speaks("speaks"), form.speaks("old")]).toEqual([false, true, true]);
    expect([form.said("a"), form.said("speaks")]).toEqual([null, ["audio"]]);
    form.sayMyself("a", true);
    form.sayWhetherItSpeaks("a", true);
    form.sayWhetherItSpeaks("speaks", false);
    expect([form.speaks("a"), form.speaks("speaks")]).toEqual([true, false]);
    form.sayMyself("old", false);
    await form.save();
    expect(bodyOf("PATCH api/upstreams/box")).toEqual({ models: null, modalities: { a: [] }, outputs: { a: ["audio"], speaks: [] } });
  });
});
