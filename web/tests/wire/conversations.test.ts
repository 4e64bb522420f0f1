import { beforeEach, describe, expect, it } from "vitest";

import { blobAddress, ConversationClient, thumbnailAddress } from "../../src/wire/conversations";
import { FakeServer } from "../server";

let server: FakeServer;
let client: ConversationClient;

beforeEach(() => {
  server = new FakeServer();
  client = new ConversationClient(server.fetch);
});

describe("the conversations' API", () => {
  it("gives a conversation whole, with what the server left out", async () => {
    server.conversation("c", [{ id: "a", parent: null, role: "user" }]);
    expect(await client.open("c")).toMatchObject({
      kind: "ok",
      value: { conversation: { id: "c", pinned: false }, messages: [{ id: "a", status: "done" }], run: null, approvals: [] },
    });
  });

  it("asks for the next page by where the last one ended", async () => {
    await client.list("12.a");
    expect(server.asked.at(-1)?.address).toBe("api/conversations?before=12.a");
  });

  it("says what is to be found, whatever stands in it", async () => {
    await client.search("a&b=c #d", new AbortController().signal);
    expect(new URL(server.asked.at(-1)!.address, "http://x").searchParams.get("q")).toBe("a&b=c #d");
  });

  it("sends a file to import as it is", async () => {
    await client.import("former chat.jsonl", "{}\n");
    expect(server.asked.at(-1)).toMatchObject({ method: "POST", address: "api/import?name=former%20chat.jsonl" });
  });

  it("knows where files lie, beside the page", () => {
    expect([blobAddress("h"), thumbnailAddress("h", 64)]).toEqual(["api/blobs/h", "api/blobs/h/thumbnail?side=64"]);
  });
});
