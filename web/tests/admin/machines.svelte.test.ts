import { beforeEach, describe, expect, it } from "vitest";

import { Machines } from "../../src/admin/machines.svelte";
import { MachineClient } from "../../src/wire/server/machines";
import { FakeClock } from "../clock";
import { settle } from "../server";

let clock: FakeClock;
let asked: string[];
let answers: Record<string, unknown>;
let machines: Machines;

beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  answers = {
    "api/machines": { join: true, gateway: "g1", machines: [{ machine: "", devices: [], workers: [] }, { machine: "box", devices: [], workers: [{ worker: "box/gpu0" }] }] },
    "api/gateways": { gateways: [{ id: "g1", address: "http://10.0.0.1:8006", version: "1" }] },
  };
  const fetch = async (address: string) => {
    asked.push(address);
    const body = answers[address];
    if (body === undefined) return new Response(JSON.stringify({ error: { code: "not_found", message: "None." } }), { status: 404 });
    return new Response(JSON.stringify(body));
  };
  machines = new Machines(new MachineClient(fetch), clock);
});

describe("the machines on the admin page", () => {
  it("are those beside the server's own, with the names of their workers", async () => {
    machines.open();
    await settle();
    expect(machines.join).toBe(true);
    expect(machines.others.map(({ machine }) => machine)).toEqual(["box"]);
    expect([...machines.elsewhere]).toEqual(["box/gpu0"]);
    expect(machines.gateways.map(({ id }) => id)).toEqual(["g1"]);
    expect(machines.cluster).toBe(null);
  });

  it("are asked for again and again while the page is open, what a server lacks only once", async () => {
    machines.open();
    await settle();
    clock.pass(2000);
    await settle();
    expect(asked.filter((address) => address === "api/machines").length).toBe(2);
    expect(asked.filter((address) => address === "api/admin/nodes").length).toBe(1);
    machines.close();
    clock.pass(60_000);
    await settle();
    expect(asked.length).toBe(5);
  });

  it("are asked for at once after a change, and an answer from before it is not shown", async () => {
    machines.open();
    await settle();
    clock.pass(2000);
    answers["api/machines"] = { join: true, machines: [] };
    machines.look();
    await settle();
    expect(asked.filter((address) => address === "api/machines").length).toBe(3);
    expect(machines.others).toEqual([]);
    clock.pass(2000);
    await settle();
    expect(asked.filter((address) => address === "api/machines").length).toBe(4);
    machines.close();
    machines.look();
    await settle();
    expect(asked.filter((address) => address === "api/machines").length).toBe(4);
  });

  it("are not asked for again by a server without any of it", async () => {
    answers = {};
    machines.open();
    await settle();
    clock.pass(60_000);
    await settle();
    expect(asked.length).toBe(3);
    expect(machines.join).toBe(false);
  });
});
