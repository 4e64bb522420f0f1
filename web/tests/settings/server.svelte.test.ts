import { beforeEach, describe, expect, it } from "vitest";

import { Server } from "../../src/settings/server.svelte";
import { FakeClock } from "../clock";

const READY = {
  version: "0.1.0",
  build: null,
  state: "ready",
  detail: "",
  default_model: "mini",
  models: [{ name: "big" }, { name: "mini" }],
};

let clock: FakeClock;
let answers: (() => Response)[];
let requests: { address: string; body: unknown; build: string | null }[];
let server: Server;

const json = (body: unknown, status = 200) => () => new Response(JSON.stringify(body), { status });
const nobody = () => {
  throw new TypeError("failed to fetch");
};

beforeEach(() => {
  clock = new FakeClock();
  answers = [];
  requests = [];
  server = new Server((address, init) => {
    requests.push({ address, body: init?.body, build: new Headers(init?.headers).get("Duologue-Build") });
    try {
      return Promise.resolve((answers.length > 1 ? answers.shift()! : answers[0]!)());
    } catch (error) {
      return Promise.reject(error);
    }
  }, clock, "b1");
});

describe("the server's state", () => {
  it("is polled once when ready", async () => {
    answers = [json(READY)];
    await server.refresh();
    expect(server.status).toBe("ready");
    expect(clock.pending).toBe(0);
    expect(requests).toEqual([{ address: "api/capabilities", body: undefined, build: "b1" }]);
  });

  it("is polled until ready", async () => {
    answers = [json({ ...READY, state: "loading", detail: "Reading the weights." }), json(READY)];
    await server.refresh();
    expect([server.status, server.detail]).toEqual(["loading", "Reading the weights."]);
    clock.pass(1000);
    await server.refresh();
    expect(server.status).toBe("ready");
    expect(requests).toHaveLength(2);
  });

  it("is polled while the voice loads after the model", async () => {
    answers = [json({ ...READY, voice: { state: "loading", detail: "The voice is loading." } }), json({ ...READY, voice: { state: "ready", detail: "" } })];
    await server.refresh();
    expect(server.status).toBe("ready");
    clock.pass(1000);
    await server.refresh();
    expect(server.capabilities?.voice?.state).toBe("ready");
    expect(requests).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("is polled ever more slowly while unreachable, and the last answer stays", async () => {
    answers = [json(READY), nobody];
    await server.refresh();
    await server.refresh();
    expect(server.status).toBe("unreachable");
    expect(server.capabilities?.default_model).toBe("mini");
    for (let failure = 0; failure < 8; failure++) {
      await server.refresh();
      expect(clock.pending).toBe(1);
    }
    const before = requests.length;
    clock.pass(4999);
    expect(requests).toHaveLength(before);
    clock.pass(1);
    expect(requests).toHaveLength(before + 1);
  });

  it("knows the model by name, and the default one otherwise", async () => {
    answers = [json(READY)];
    expect(server.model("")).toBeNull();
    await server.refresh();
    expect(server.model("big")?.name).toBe("big");
    expect(server.model("gone")?.name).toBe("mini");
  });
});

describe("another build of the page", () => {
  it("is what the server says it is, of the build the page names", async () => {
    answers = [json({ ...READY, outdated: false }), json({ ...READY, outdated: true })];
    await server.refresh();
    expect(server.outdated).toBe(false);
    await server.refresh();
    expect(server.outdated).toBe(true);
    expect(requests[0]!.build).toBe("b1");
  });
});

describe("logging in", () => {
  const locked = json({ error: { message: "A key is needed." } }, 401);

  it("stops asking while locked, and opens with the right key", async () => {
    answers = [locked];
    await server.refresh();
    expect([server.status, server.detail, clock.pending]).toEqual(["locked", "A key is needed.", 0]);
    answers = [json({}), json(READY)];
    expect(await server.login("secret")).toBeNull();
    expect(requests.at(-2)).toMatchObject({ address: "api/session", body: '{"key":"secret"}' });
    expect(server.status).toBe("ready");
  });

  it("gives the server's sentence for a wrong key", async () => {
    answers = [json({ error: { message: "This key is not known." } }, 401)];
    expect(await server.login("wrong")).toBe("This key is not known.");
  });

  it("says so when the cookie does not stick", async () => {
    answers = [json({}), locked];
    expect(await server.login("secret")).toMatch(/cookie/);
  });

  it("reports an unreachable server", async () => {
    answers = [nobody];
    expect(await server.login("secret")).toMatch(/isn’t responding/);
  });
});

describe("a request sent earlier", () => {
  it("does not show a later login", async () => {
    let come = () => {};
    const slow = new Promise<void>((resolve) => (come = resolve));
    const states = [{ error: { message: "A key is needed." } }, READY];
    let asks = 0;
    const late = new Server(async (address) => {
      if (address === "api/session") return new Response("{}");
      const nth = asks++;
      if (nth === 0) await slow;
      return new Response(JSON.stringify(states[nth]), { status: nth === 0 ? 401 : 200 });
    }, clock);
    void late.refresh();
    const entering = late.login("key");
    await new Promise((resolve) => setImmediate(resolve));
    come();
    expect(await entering).toBe(null);
    expect(late.status).toBe("ready");
  });

  it("is polled slowly while the server has no model", async () => {
    answers = [json({ ...READY, state: "empty" })];
    await server.refresh();
    clock.pass(4000);
    expect(requests).toHaveLength(1);
    clock.pass(1500);
    expect(requests).toHaveLength(2);
  });
});
