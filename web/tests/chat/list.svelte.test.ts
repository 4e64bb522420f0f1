import { beforeEach, describe, expect, it } from "vitest";

import { ConversationList } from "../../src/chat/list.svelte";
import { Notices } from "../../src/chat/notices.svelte";
import { ConversationClient } from "../../src/wire/conversations";
import { FakeClock } from "../clock";
import { calm, FakeServer } from "../server";

let clock: FakeClock;
let server: FakeServer;
let notices: Notices;
let told: string[];
let list: ConversationList;

beforeEach(async () => {
  clock = new FakeClock();
  server = new FakeServer();
  notices = new Notices(clock);
  told = [];
  list = new ConversationList({
    client: new ConversationClient(server.fetch),
    clock,
    notices,
    deleted: (id) => void told.push(`deleted ${id}`),
    restored: (id) => void told.push(`restored ${id}`),
    noticed: ({ id, title }) => void told.push(`${id} ${title}`),
  });
  server.conversation("a", [], "Tea");
  server.conversation("b", [], "Coffee");
  await list.load();
  told = [];
});

const titles = () => list.items.map(({ title }) => title);

describe("the list of conversations", () => {
  it("has the newest first", () => {
    expect(titles()).toEqual(["Coffee", "Tea"]);
    expect(list.known).toBe(true);
  });

  it("reads many changes once", async () => {
    server.conversation("c", [], "Milk");
    const before = server.asked.length;
    for (const conversation of ["a", "b", "c"]) list.heard({ type: "changed", conversation });
    clock.pass(200);
    await calm();
    expect(titles()).toEqual(["Milk", "Coffee", "Tea"]);
    expect(server.asked.length - before).toBe(1);
    expect(told).toContain("c Milk");
  });

  it("shows which are being answered, and which wait for the person", () => {
    list.heard({ type: "run", conversation: "a", run: "r" });
    expect([list.get("a")?.running, list.waiting("a")]).toEqual(["r", ""]);
    list.heard({ type: "run", conversation: "a", run: "r", waiting: "approval" });
    expect(list.waiting("a")).toBe("approval");
    list.heard({ type: "run", conversation: "a", run: "r", outcome: "done" });
    expect([list.get("a")?.running, list.waiting("a")]).toEqual([null, ""]);
  });

  it("renames at once, and takes it back when the server will not", async () => {
    await list.rename("a", "  Green tea ");
    expect(titles()).toEqual(["Coffee", "Green tea"]);
    expect(told).toEqual(["a Green tea"]);
    server.refusal = { status: 400, code: "", message: "That is too long." };
    await list.rename("a", "x");
    expect(titles()).toEqual(["Coffee", "Green tea"]);
    expect(notices.current?.text).toBe("That is too long.");
  });

  it("deletes at once, and can bring it back", async () => {
    await list.delete("b");
    expect(titles()).toEqual(["Tea"]);
    expect(told).toContain("deleted b");
    expect(notices.current).toMatchObject({ text: "Deleted “Coffee”.", action: { label: "Undo" } });
    server.conversation("b", [], "Coffee");
    notices.current?.action?.run();
    await calm();
    expect(titles()).toEqual(["Coffee", "Tea"]);
    expect(told).toContain("restored b");
    expect(notices.current).toBeNull();
  });

  it("does not bring a deleted one back by a late answer", async () => {
    const deleting = list.delete("b");
    const loading = list.load();
    await Promise.all([deleting, loading]);
    expect(titles()).toEqual(["Tea"]);
  });

  it("forgets one that was deleted elsewhere", () => {
    list.heard({ type: "removed", conversation: "a" });
    expect(titles()).toEqual(["Coffee"]);
  });
});
