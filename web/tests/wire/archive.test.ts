import { describe, expect, it } from "vitest";

import { ArchiveClient } from "../../src/wire/archive";

function made(pages: Record<string, { ids: string[]; next: string | null }>, refused = false) {
  const asked: string[] = [];
  const bodies: { ids: string[]; do: string }[] = [];
  const client = new ArchiveClient(async (address, init = {}) => {
    asked.push(address);
    if (init.method === "POST") {
      bodies.push(JSON.parse(String(init.body)) as { ids: string[]; do: string });
      return new Response(refused ? '{"error":{"message":"Not now."}}' : "{}", { status: refused ? 503 : 200 });
    }
    const { ids, next } = pages[address.replace("api/conversations?limit=200&", "")]!;
    return new Response(JSON.stringify({ conversations: ids.map((id) => ({ id })), next }));
  });
  return { client, asked, bodies };
}

describe("all conversations", () => {
  it("are named page by page, archived ones too", async () => {
    const { client } = made({
      "archived=false": { ids: ["a", "b"], next: "7.b" },
      "archived=false&before=7.b": { ids: ["c"], next: null },
      "archived=true": { ids: ["d"], next: null },
    });
    expect(await client.ids()).toEqual({ kind: "ok", value: ["a", "b", "c", "d"] });
  });

  it("are deleted as many at once as the server takes", async () => {
    const { client, bodies } = made({});
    const ids = Array.from({ length: 2500 }, (_, index) => `c${index}`);
    expect(await client.all(ids, "delete")).toMatchObject({ kind: "ok" });
    expect(bodies.map(({ ids, do: verb }) => [ids.length, verb])).toEqual([
      [1000, "delete"],
      [1000, "delete"],
      [500, "delete"],
    ]);
  });

  it("are left at the first command that fails", async () => {
    const { client, bodies } = made({}, true);
    const ids = Array.from({ length: 1500 }, (_, index) => `c${index}`);
    expect(await client.all(ids, "restore")).toMatchObject({ kind: "refused", message: "Not now." });
    expect(bodies).toHaveLength(1);
  });
});
