import { beforeEach, describe, expect, it } from "vitest";

import { blobAddress, ConversationClient, exportAddress, thumbnailAddress } from "../../../src/wire/chat/conversations";
import { FakeServer } from "../../server";

let server: FakeServer;
let client: ConversationClient;

beforeEach(() => {
  server = new FakeServer();
  client = new ConversationClient(server.fetch);
});

describe("the conversations' API", () => {
  it("restores the defaults that the server omits", async () => {
    server.conversation("c", [{ id: "a", parent: null, role: "user" }]);
    expect(await client.open("c")).toMatchObject({
      kind: "ok",
      value: { conversation: { id: "c", pinned: false }, messages: [{ id: "a", status: "done" }], run: null, approvals: [] },
    });
  });

  it("asks for one that may be gone in a way that browsers do not report", async () => {
    expect(await client.open("gone")).toMatchObject({ kind: "refused", status: 404 });
    expect(server.requests.at(-1)?.address).toBe("api/conversations/gone?if_exists=true");
  });

  it("requests the next page by its cursor", async () => {
    await client.list({ archived: false, folder: null, tag: null }, "12.a");
    expect(server.requests.at(-1)?.address).toBe("api/conversations?before=12.a");
  });

  it("filters by archive, folder and tag", async () => {
    await client.list({ archived: true, folder: "f", tag: "green tea" });
    expect(server.requests.at(-1)?.address).toBe("api/conversations?archived=true&folder=f&tag=green+tea");
  });

  it("changes many in batches the server accepts", async () => {
    const ids = Array.from({ length: 1001 }, (_, index) => `c${index}`);
    expect(await client.bulk(ids, "move", "f")).toMatchObject({ kind: "ok" });
    expect(server.requests.map(({ body }) => [body.ids.length, body.do, body.folder])).toEqual([
      [1000, "move", "f"],
      [1, "move", "f"],
    ]);
  });

  it("names a conversation's files", () => {
    expect(exportAddress("a b", "markdown")).toBe("api/conversations/a%20b/export?format=markdown");
  });

  it("escapes the search query", async () => {
    await client.search("a&b=c #d", new AbortController().signal);
    expect(new URL(server.requests.at(-1)!.address, "http://x").searchParams.get("q")).toBe("a&b=c #d");
  });

  it("sends a file to import unchanged", async () => {
    await client.import("former chat.jsonl", "{}\n");
    expect(server.requests.at(-1)).toMatchObject({ method: "POST", address: "api/import?name=former%20chat.jsonl" });
  });

  it("knows the addresses of files", () => {
    expect([blobAddress("h"), thumbnailAddress("h", 64)]).toEqual(["api/blobs/h", "api/blobs/h/thumbnail?side=64"]);
  });

  it("sends fork, instructions, context and compaction", async () => {
    server.conversation("c", [{ id: "a", parent: null, role: "user" }]);
    await client.fork("c", "f", "a");
    await client.putSystem("c", "Be brief.");
    await client.context("c", "a b");
    await client.context("c", null);
    await client.compact("c", "s", null);
    expect(server.requests.map(({ method, address, body }) => [method, address, body])).toEqual([
      ["POST", "api/conversations/c/fork", { id: "f", message: "a" }],
      ["PUT", "api/conversations/c/system", { text: "Be brief." }],
      ["GET", "api/conversations/c/context?leaf=a%20b", undefined],
      ["GET", "api/conversations/c/context", undefined],
      ["POST", "api/conversations/c/compact", { id: "s" }],
    ]);
  });
});

describe("all conversations", () => {
  function clientOf(pages: Record<string, { ids: string[]; next: string | null }>): ConversationClient {
    return new ConversationClient(async (address) => {
      const { ids, next } = pages[address.replace("api/conversations?limit=200", "")]!;
      return new Response(JSON.stringify({ conversations: ids.map((id) => ({ id })), next }));
    });
  }

  it("are listed page by page, archived ones too", async () => {
    const all = clientOf({
      "": { ids: ["a", "b"], next: "7.b" },
      "&before=7.b": { ids: ["c"], next: null },
      "&archived=true": { ids: ["d"], next: null },
    });
    expect(await all.ids()).toEqual({ kind: "ok", value: ["a", "b", "c", "d"] });
  });

  it("are listed for one folder", async () => {
    const all = clientOf({ "&folder=f": { ids: ["a"], next: null }, "&archived=true&folder=f": { ids: ["b"], next: null } });
    expect(await all.ids("f")).toEqual({ kind: "ok", value: ["a", "b"] });
  });

  it("are processed until the first failure", async () => {
    server.refusal = { status: 503, code: "busy", message: "Not now." };
    const ids = Array.from({ length: 1500 }, (_, index) => `c${index}`);
    expect(await client.bulk(ids, "restore")).toMatchObject({ kind: "refused", message: "Not now." });
    expect(server.requests).toHaveLength(1);
  });
});
