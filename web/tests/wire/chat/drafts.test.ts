import { describe, expect, it } from "vitest";

import { DraftClient, NEW_CONVERSATION } from "../../../src/wire/chat/drafts";

describe("drafts on the server", () => {
  it("are read, kept and thrown away; while the page goes, by requests that outlive it", async () => {
    const requests: unknown[] = [];
    const client = new DraftClient(async (address, { method = "GET", keepalive = false, body } = {}) => {
      requests.push([method, address, keepalive, body ? JSON.parse(String(body)) : null]);
      return method === "DELETE" ? new Response(null, { status: 204 }) : new Response(JSON.stringify({ text: "x", files: [], updated: 3 }));
    });
    const draft = { text: "x", files: [] };
    expect(await client.read(NEW_CONVERSATION)).toMatchObject({ kind: "ok", value: { updated: 3 } });
    await client.put("c", draft);
    await client.put("c", draft, true);
    expect(await client.drop("c", true)).toEqual({ kind: "ok", value: null });
    expect(requests).toEqual([
      ["GET", "api/drafts/new", false, null],
      ["PUT", "api/drafts/c", false, draft],
      ["PUT", "api/drafts/c", true, draft],
      ["DELETE", "api/drafts/c", true, null],
    ]);
  });
});
