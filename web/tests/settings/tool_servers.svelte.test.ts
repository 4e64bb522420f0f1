import { beforeEach, describe, expect, it } from "vitest";

import { ToolServers } from "../../src/settings/tool_servers.svelte";
import type { Fetch } from "../../src/wire/transport/http";
import { ToolServerClient } from "../../src/wire/tools/mcp";
import { FakeClock } from "../clock";
import { settle } from "../server";

type Row = Record<string, unknown> & { name: string };

let rows: Row[];
let permissions: { server: string; tool: string }[];
let requests: string[];
let refusal: { status: number; message: string } | null;

beforeEach(() => {
  rows = [{ name: "duologue", phase: "ready", source: "builtin" }];
  permissions = [];
  requests = [];
  refusal = null;
});

const fetch: Fetch = async (address, init = {}) => {
  const method = init.method ?? "GET";
  requests.push(`${method} ${address}`);
  const json = (value: unknown, status = 200) => new Response(value === null ? null : JSON.stringify(value), { status });
  if (refusal && method !== "GET") return json({ error: { message: refusal.message, code: "key_needed" } }, refusal.status);
  if (address === "api/permissions") return json({ permissions });
  if (method === "GET") return json({ servers: rows });
  if (address.startsWith("api/permissions?")) permissions = [];
  if (address === "api/mcp/servers") rows.push({ ...(JSON.parse(String(init.body)) as Row), phase: "starting" });
  if (address.endsWith("/login") && method === "POST") return json({ login: "https://example.org/login" });
  if (method === "DELETE" && /servers\/\w+$/.test(address)) rows.pop();
  return json(rows[0]);
};

function made() {
  const clock = new FakeClock();
  return { servers: new ToolServers(new ToolServerClient(fetch), clock), clock };
}

describe("the tool servers", () => {
  it("are polled while watched, faster while one is connecting", async () => {
    const { servers, clock } = made();
    const leave = servers.watch();
    await settle();
    expect(servers.all).toEqual(rows);
    requests = [];
    clock.pass(5000);
    await settle();
    expect(requests).toEqual([]);
    rows.push({ name: "notes", phase: "starting" });
    clock.pass(5000);
    await settle();
    expect(requests).toContain("GET api/mcp");
    requests = [];
    clock.pass(2000);
    await settle();
    expect(requests).toContain("GET api/mcp");
    leave();
    requests = [];
    clock.pass(60_000);
    await settle();
    expect(requests).toEqual([]);
  });

  it("are added one by one, and each says what came of it", async () => {
    const { servers } = made();
    const added = await servers.add([{ name: "notes", config: { command: "x" } }]);
    expect(added).toEqual([{ name: "notes", problem: "" }]);
    expect(servers.all.map(({ name }) => name)).toEqual(["duologue", "notes"]);
    refusal = { status: 403, message: "A key is needed." };
    expect(await servers.add([{ name: "other", config: { command: "x" } }])).toEqual([{ name: "other", problem: "A key is needed." }]);
  });

  it("keep the server's sentence when it refuses, beside the one it is about", async () => {
    const { servers } = made();
    refusal = { status: 400, message: "It stands in the configuration." };
    expect(await servers.remove("notes")).toBe(false);
    expect(servers.error("notes")).toBe("It stands in the configuration.");
    expect(servers.error("duologue")).toBe("");
    refusal = null;
    expect(await servers.reconnect("notes")).toBe(true);
    expect(servers.error("notes")).toBe("");
    expect(servers.busy("notes")).toBe(false);
  });

  it("give the address to sign in at", async () => {
    expect(await made().servers.signIn("notes")).toBe("https://example.org/login");
  });

  it("know which tools run without asking, and have them ask again", async () => {
    permissions = [{ server: "notes", tool: "write" }];
    const { servers } = made();
    await servers.load();
    expect(servers.isAllowed("notes", "write")).toBe(true);
    expect(servers.isAllowed("notes", "*")).toBe(false);
    await servers.revokePermission("notes", "write");
    expect(requests).toContain("DELETE api/permissions?server=notes&tool=write");
    expect(servers.isAllowed("notes", "write")).toBe(false);
  });

  it("say why they cannot be read, and keep what was known", async () => {
    const { servers } = made();
    await servers.load();
    const away = new ToolServers(
      new ToolServerClient(async () => {
        throw new TypeError("failed to fetch");
      }),
      new FakeClock(),
    );
    await away.load();
    expect(away.problem).not.toBe("");
    expect(away.loaded).toBe(false);
    expect(servers.loaded).toBe(true);
  });
});
