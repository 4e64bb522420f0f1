import { beforeEach, describe, expect, it } from "vitest";

import { Admin, SPAN_S } from "../../src/admin/admin.svelte";
import { AdminClient } from "../../src/wire/server/admin";
import { FakeClock } from "../clock";
import { settle } from "../server";

let clock: FakeClock;
let requests: string[];
let samples: { at: number }[];
let away: boolean;
let now: number;
let said: string[];
let admin: Admin;
let apps: { app_id: string; enabled: boolean }[];
let refuses: boolean;
let draining: boolean;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  samples = [];
  away = false;
  now = 1000;
  said = [];
  refuses = false;
  draining = false;
  apps = [
    { app_id: "omni", enabled: true },
    { app_id: "audio_duplex", enabled: true },
  ];
  const fetch = async (address: string, options?: RequestInit) => {
    requests.push(address);
    if (away) throw new TypeError("failed to fetch");
    if (/admin\/(life|drain|restart|workers\/\w+\/drain)$/.test(address)) {
      if (refuses) return new Response(JSON.stringify({ error: { code: "restart_running", message: "One is running." } }), { status: 409 });
      if (options?.method === "POST" && address.endsWith("admin/drain")) draining = true;
      if (options?.method === "DELETE") draining = false;
      const restart = { running: address.endsWith("restart"), done: [], current: "", left: [], problem: "" };
      return new Response(JSON.stringify({ draining, reason: draining ? "admin" : null, running: 0, restart, scaling: [] }));
    }
    const switched = /admin\/apps\/(\w+)/.exec(address)?.[1];
    if (switched !== undefined) {
      if (refuses) return new Response(JSON.stringify({ error: { code: "internal_error", message: "It broke." } }), { status: 500 });
      apps = apps.map((app) => (app.app_id === switched ? { ...app, enabled: !app.enabled } : app));
      return new Response(JSON.stringify(apps.find((app) => app.app_id === switched)));
    }
    if (address.endsWith("admin/apps")) return new Response(JSON.stringify({ apps }));
    const body = address.includes("figures") ? { now, step: 5, samples } : address === "workers" ? { workers: [{ worker_id: "w0", status: "idle" }] } : { items: [], running_tasks: [] };
    return new Response(JSON.stringify(body));
  };
  admin = new Admin({ client: new AdminClient(fetch), clock, notify: (sentence) => said.push(sentence) });
});

describe("the admin page", () => {
  it("asks again and again while it is open, and only for what is new", async () => {
    samples = [{ at: 995 }, { at: 1000 }];
    admin.open();
    await settle();
    clock.pass(2000);
    await settle();
    expect(requests.filter((address) => address.includes("figures"))).toEqual(["api/admin/figures?since=0", "api/admin/figures?since=1000"]);
    expect(admin.samples.map(({ at }) => at)).toEqual([995, 1000]);
    admin.close();
    clock.pass(60_000);
    await settle();
    expect(requests.length).toBe(10);
  });

  it("drains the server and its workers, and shows it before the next look", async () => {
    admin.open();
    await settle();
    expect(admin.life?.draining).toBe(false);
    await admin.drain(true);
    expect(admin.life?.draining).toBe(true);
    await admin.drain(false);
    expect(admin.life?.draining).toBe(false);
    await admin.drainWorker("w0", true);
    expect(admin.workers.map(({ draining: drains }) => drains)).toEqual([true]);
  });

  it("begins a rolling restart, and says why it cannot", async () => {
    await admin.restartAll();
    expect(admin.life?.restart.running).toBe(true);
    refuses = true;
    await admin.restartAll();
    await admin.drainWorker("w0", true);
    expect(said.length).toBe(2);
    expect(admin.life?.restart.running).toBe(true);
  });

  it("moves a switch at once, and back where the server refuses", async () => {
    admin.open();
    await settle();
    const off = () => admin.apps.filter((app) => !app.enabled).map((app) => app.app_id);
    const answered = admin.switchApp("omni", false);
    expect(off()).toEqual(["omni"]);
    await answered;
    expect(off()).toEqual(["omni"]);
    refuses = true;
    const refused = admin.switchApp("audio_duplex", false);
    expect(off()).toEqual(["omni", "audio_duplex"]);
    await refused;
    expect(off()).toEqual(["omni"]);
    expect(said.length).toBe(1);
  });

  it("does not take a switch back for an answer that was asked before", async () => {
    admin.open();
    await settle();
    clock.pass(2000);
    const switched = admin.switchApp("omni", false);
    await settle();
    await switched;
    expect(admin.apps[0]?.enabled).toBe(false);
  });

  it("asks in one round, though it was closed and opened again before the answer", async () => {
    admin.open();
    admin.close();
    admin.open();
    await settle();
    expect(clock.pending).toBe(1);
  });

  it("drops samples older than it shows", async () => {
    samples = [{ at: 1000 }];
    admin.open();
    await settle();
    now = 1000 + SPAN_S + 5;
    samples = [{ at: now }];
    clock.pass(2000);
    await settle();
    expect(admin.samples.map(({ at }) => at)).toEqual([now]);
  });

  it("reports an unreachable server and keeps polling", async () => {
    away = true;
    admin.open();
    await settle();
    expect(admin.problem).not.toBe("");
    away = false;
    clock.pass(2000);
    await settle();
    expect(admin.problem).toBe("");
    expect(admin.loaded).toBe(true);
  });
});
