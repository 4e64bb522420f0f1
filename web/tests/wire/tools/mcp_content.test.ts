import { describe, expect, it } from "vitest";

import { McpContentClient } from "../../../src/wire/tools/mcp_content";

function client(answers: Readonly<Record<string, unknown>>) {
  const requests: unknown[] = [];
  const offers = new McpContentClient(async (address, { method = "GET", body } = {}) => {
    requests.push([method, address, body ? JSON.parse(String(body)) : null]);
    return address in answers ? new Response(JSON.stringify(answers[address])) : new Response('{"error":{"message":"Not here."}}', { status: 404 });
  });
  return { offers, requests };
}

describe("what tool servers offer", () => {
  it("is listed by server", async () => {
    const servers = [{ server: "notes", prompts: [{ name: "daily" }] }];
    const { offers } = client({ "api/mcp/prompts": { servers }, "api/mcp/resources": { servers: [] } });
    expect(await offers.prompts()).toEqual({ kind: "ok", value: servers });
    expect(await offers.resources()).toEqual({ kind: "ok", value: [] });
  });

  it("is filled in and read", async () => {
    const content = [{ type: "resource", server: "notes", uri: "n://1", text: "x" }];
    const { offers, requests } = client({ "api/mcp/prompts/get": { description: "", messages: [] }, "api/mcp/resources/read": { content } });
    await offers.fill("notes", "daily", { day: "1" });
    expect(await offers.read("notes", "n://1")).toEqual({ kind: "ok", value: content });
    expect(requests).toEqual([
      ["POST", "api/mcp/prompts/get", { server: "notes", name: "daily", arguments: { day: "1" } }],
      ["POST", "api/mcp/resources/read", { server: "notes", uri: "n://1" }],
    ]);
  });

  it("is completed if the server can, and empty otherwise", async () => {
    const asking = { server: "notes", kind: "prompt", name: "daily", argument: "day", value: "m", context: {} } as const;
    expect(await client({ "api/mcp/complete": { values: ["monday"] } }).offers.complete(asking)).toEqual(["monday"]);
    expect(await client({}).offers.complete(asking)).toEqual([]);
  });
});
