import { beforeEach, describe, expect, it } from "vitest";

import { ConversationList } from "../../../src/chat/list/conversation_list.svelte";
import { Notices } from "../../../src/chat/announce/notices.svelte";
import { MemoryStorage } from "../../../src/settings/storage";
import { ConversationClient } from "../../../src/wire/chat/conversations";
import { FolderClient } from "../../../src/wire/chat/folders";
import { conversationOf } from "../../../src/wire/chat/rows";
import { FakeClock } from "../../clock";
import { settle, FakeServer } from "../../server";

let clock: FakeClock;
let server: FakeServer;
let notices: Notices;
let told: string[];
let open: string | null;
let wall: number;
let list: ConversationList;

const made = (folders = new FolderClient(server.fetch)) =>
  new ConversationList({
    client: new ConversationClient(server.fetch),
    folders,
    storage: new MemoryStorage(),
    clock,
    wall: () => wall,
    notices,
    onDeleted: (id) => told.push(`deleted ${id}`) > 0 && id === open,
    onRestored: (id) => void told.push(`restored ${id}`),
    onUpdated: ({ id, title }) => void told.push(`${id} ${title}`),
  });

beforeEach(async () => {
  clock = new FakeClock();
  server = new FakeServer();
  notices = new Notices(clock);
  told = [];
  open = null;
  wall = 0;
  list = made();
  server.conversation("a", [], "Tea");
  server.conversation("b", [], "Coffee");
  await list.load();
  told = [];
});

const titles = () => list.items.map(({ title }) => title);
const shown = (of = list) => of.sections.map(({ key, items }) => `${key}: ${items.map(({ id }) => id).join(" ")}`.trim());
const undo = async () => {
  notices.current?.action?.run();
  await settle();
};

describe("the list of conversations", () => {
  it("has the newest first", () => {
    expect(titles()).toEqual(["Coffee", "Tea"]);
    expect(list.known).toBe(true);
  });

  it("reads many changes once", async () => {
    server.conversation("c", [], "Milk");
    const before = server.requests.length;
    for (const conversation of ["a", "b", "c"]) list.handleEvent({ type: "changed", conversation });
    clock.pass(200);
    await settle();
    expect(titles()).toEqual(["Milk", "Coffee", "Tea"]);
    expect(server.requests.length - before).toBe(1);
    expect(told).toContain("c Milk");
  });

  it("shows which are being answered, and which wait for the person", () => {
    list.handleEvent({ type: "run", conversation: "a", run: "r" });
    expect([list.get("a")?.running, list.waiting("a")]).toEqual(["r", ""]);
    list.handleEvent({ type: "run", conversation: "a", run: "r", waiting: "approval" });
    expect(list.waiting("a")).toBe("approval");
    list.handleEvent({ type: "run", conversation: "a", run: "r", outcome: "done" });
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

  it("deletes at once, and can bring it back to where it was", async () => {
    open = "b";
    await list.delete("b");
    expect(titles()).toEqual(["Tea"]);
    expect(told).toContain("deleted b");
    expect(notices.current).toMatchObject({ text: "Deleted “Coffee”.", action: { label: "Undo" } });
    await undo();
    expect(titles()).toEqual(["Coffee", "Tea"]);
    expect(told).toContain("restored b");
    expect(notices.current).toBeNull();
  });

  it("does not go to one that is brought back, unless it was looked at", async () => {
    open = "a";
    await list.delete("b");
    await undo();
    expect(told).not.toContain("restored b");
  });

  it("deletes many at once, and brings all of them back", async () => {
    await list.delete(["a", "b"]);
    expect(list.sections).toEqual([]);
    expect(notices.current?.text).toBe("Deleted 2 chats.");
    expect(server.commands()).toEqual(["POST api/conversations/bulk"]);
    await undo();
    expect(titles()).toEqual(["Coffee", "Tea"]);
  });

  it("keeps what the server will not delete", async () => {
    server.refusal = { status: 503, code: "", message: "The database is away." };
    await list.delete("b");
    expect(titles()).toEqual(["Coffee", "Tea"]);
    expect(notices.current?.text).toBe("The database is away.");
  });

  it("does not bring a deleted one back by a late answer", async () => {
    const deleting = list.delete("b");
    const loading = list.load();
    await Promise.all([deleting, loading]);
    expect(titles()).toEqual(["Tea"]);
  });

  it("forgets one that was deleted elsewhere", () => {
    list.handleEvent({ type: "removed", conversation: "a" });
    expect(titles()).toEqual(["Coffee"]);
  });

  it("puts what is archived into a view of its own, and back", async () => {
    await list.archive("a", true);
    expect(titles()).toEqual(["Coffee"]);
    expect(notices.current?.text).toBe("Archived “Tea”.");
    await list.show({ archived: true });
    expect(list.rows.map(({ id }) => id)).toEqual(["a"]);
    await undo();
    expect(list.rows).toEqual([]);
    await list.show();
    expect(titles()).toEqual(["Coffee", "Tea"]);
  });

  it("shows those with a tag, wherever they are", async () => {
    await list.tag("a", ["green"]);
    await list.show({ tag: "green" });
    expect(list.rows.map(({ id }) => id)).toEqual(["a"]);
  });

  it("lets the model write a title, and says meanwhile that it does", async () => {
    const writing = list.retitle("a");
    expect(list.isTitling("a")).toBe(true);
    await writing;
    expect([list.isTitling("a"), list.get("a")?.title]).toEqual([false, "Written by the model"]);
  });

  it("stops the reply of a conversation that is not looked at", async () => {
    list.handleEvent({ type: "run", conversation: "a", run: "r" });
    server.add({ id: "x", parent: null, role: "assistant" });
    server.logs.set("r", []);
    await list.stop("a");
    expect(server.commands()).toEqual(["POST api/runs/r/stop"]);
  });

  it("keeps unconfirmed changes while the list is reloaded", async () => {
    const pinning = list.pin("a", true);
    const loading = list.load();
    expect(list.get("a")?.pinned).toBe(true);
    await Promise.all([pinning, loading]);
    expect(shown()[0]).toBe("pinned: a");
  });

  it("knows what is above and below, as it is shown", async () => {
    await list.pin("a", true);
    expect(["a", "b", null].map((id) => list.neighbour(id, 1))).toEqual(["b", null, "a"]);
    expect(["a", "b", null].map((id) => list.neighbour(id, -1))).toEqual([null, "a", null]);
  });

  it("shows temporary ones that were met here, which no list of the server has", async () => {
    list.add(conversationOf({ id: "t", temporary: true, updated: 99 }));
    await list.load();
    expect(shown()[0]).toBe("temporary: t");
    list.choose();
    expect(shown()[0]).not.toContain("temporary");
    list.handleEvent({ type: "removed", conversation: "t" });
    expect(list.get("t")).toBeUndefined();
  });

  it("reloads a changed temporary one individually", async () => {
    Object.assign(server.conversation("t", [], "Between us").conversation, { temporary: true });
    list.add(conversationOf({ id: "t", temporary: true }));
    list.handleEvent({ type: "changed", conversation: "t" });
    await settle();
    expect(list.get("t")?.title).toBe("Between us");
    expect(told).toContain("t Between us");
  });

  it("does not count one that is deleted among the chosen", async () => {
    list.choose().set(["a", "b"]);
    await list.delete("a");
    expect([...list.selection!.ids]).toEqual(["b"]);
  });
});

describe("a long list", () => {
  beforeEach(async () => {
    server.page = 3;
    for (const id of ["c", "d", "e", "f", "g"]) server.conversation(id, [], id);
  });

  const ids = () => list.rows.map(({ id }) => id).join("");

  it("is read on page by page", async () => {
    list.handleEvent({ type: "reset" });
    clock.pass(200);
    await settle();
    expect(ids()).toBe("gfe");
    await Promise.all([list.more(), list.more()]);
    expect(ids()).toBe("gfedcb");
    await list.more();
    expect([ids(), list.rest]).toEqual(["gfedcba", null]);
  });

  it("keeps its length when something new arrives", async () => {
    await list.load();
    await list.more();
    server.conversation("h", [], "h");
    await list.load();
    expect(ids()).toBe("hgfedcb");
  });

  it("restarts if more than a page arrived", async () => {
    await list.load();
    await list.more();
    for (const id of ["h", "i", "j", "k"]) server.conversation(id, [], id);
    await list.load();
    expect(ids()).toBe("kji");
    await list.more();
    expect(ids()).toBe("kjihgf");
  });
});

it("leaves the parts of the list that did not change as they are", async () => {
  await list.pin("a", true);
  const [pinned, today] = list.sections;
  list.handleEvent({ type: "run", conversation: "b", run: "r" });
  expect(list.sections[0]).toBe(pinned);
  expect(list.sections[1]).not.toBe(today);
});

describe("folders in the list", () => {
  beforeEach(async () => {
    server.folders.set("f", { id: "f", name: "Drinks" });
    server.folders.set("g", { id: "g", name: "Hot", parent: "f" });
    list.handleEvent({ type: "reset" });
    await settle();
  });

  it("take in what is moved there, and are read when they are opened", async () => {
    await list.move("a", "f");
    expect(notices.current?.text).toBe("Moved “Tea” to “Drinks”.");
    expect(shown()).toEqual(["f:", "today: b"]);
    await list.fold("f", false);
    expect(shown()).toEqual(["f: a", "g:", "today: b"]);
    await undo();
    expect(shown()).toEqual(["f:", "g:", "today: b a"]);
  });

  it("say that something in them is being answered while they are folded", async () => {
    await list.move("a", "f");
    list.handleEvent({ type: "run", conversation: "a", run: "r" });
    expect(list.sections[0]?.busy).toBe(true);
    await list.fold("f", false);
    expect(list.sections[0]?.busy).toBe(false);
  });

  it("leave pinned ones at the top", async () => {
    await list.move("a", "f");
    await list.pin("a", true);
    expect(shown()).toEqual(["pinned: a", "f:", "today: b"]);
  });

  it("give back to each its own when many were moved", async () => {
    await list.move("a", "g");
    await list.move(["a", "b"], "f");
    expect(notices.current?.text).toBe("Moved 2 chats to “Drinks”.");
    await undo();
    expect(["a", "b"].map((id) => list.get(id)?.folder ?? null)).toEqual(["g", null]);
  });

  it("come together with the chats: none is seen outside its own first", async () => {
    await list.move("a", "f");
    let answer = () => {};
    const late = new Promise<void>((resolve) => (answer = resolve));
    const fresh = made(new FolderClient((...asked) => late.then(() => server.fetch(...asked))));
    const loading = fresh.load();
    await settle();
    expect([fresh.known, shown(fresh)]).toEqual([false, []]);
    answer();
    await loading;
    expect(shown(fresh)).toEqual(["f:", "today: b"]);
  });

  it("move nothing that is there already", async () => {
    await list.move("a", null);
    expect(server.commands()).toEqual([]);
  });
});

it("turns today into yesterday at midnight", async () => {
  wall = new Date(2026, 4, 5, 23, 59).getTime();
  list.add(conversationOf({ id: "t", temporary: false, updated: wall }));
  server.conversation("t").conversation.updated = wall;
  await list.load();
  expect(shown()[0]).toBe("today: t");
  wall += 120_000;
  clock.pass(120_000);
  expect(shown()[0]).toBe("yesterday: t");
});

describe("concurrent reads", () => {
  it("drop an older answer that arrives after a newer one", async () => {
    let come = () => {};
    server.readDelay = new Promise((resolve) => (come = resolve));
    const first = list.load();
    await settle();
    server.readDelay = null;
    server.conversations.get("a")!.conversation.title = "Green tea";
    await list.load();
    come();
    await first;
    expect(titles()).toEqual(["Coffee", "Green tea"]);
  });

  it("read again what was answered before a change was stored, and lose no row of it", async () => {
    await list.archive("a", true);
    let come = () => {};
    server.readDelay = new Promise((resolve) => (come = resolve));
    const reading = list.load();
    await settle();
    server.readDelay = null;
    await undo();
    expect(titles()).toEqual(["Coffee", "Tea"]);
    come();
    await reading;
    expect(titles()).toEqual(["Coffee", "Tea"]);
  });

  it("keep the row of a change that the server does not have yet", async () => {
    await list.archive("a", true);
    const change = gated();
    server.before = async (method) => void (method === "POST" && (await change.promise));
    await undo();
    await list.load();
    expect(titles()).toEqual(["Coffee", "Tea"]);
    change.come();
    await settle();
    await list.load();
    expect(titles()).toEqual(["Coffee", "Tea"]);
  });

  it("takes nothing back of the second of two changes, when only the first has arrived", async () => {
    const [first, second] = [gated(), gated()];
    const changing = [first, second];
    server.before = async (method) => void (method === "PATCH" && (await changing.shift()?.promise));
    const one = list.tag("a", ["hot"]);
    const other = list.tag("a", ["hot", "green"]);
    await settle();
    first.come();
    await one;
    await list.load();
    expect(list.get("a")?.tags).toEqual(["hot", "green"]);
    second.come();
    await other;
    expect(server.conversations.get("a")!.conversation.tags).toEqual(["hot", "green"]);
  });
});

function gated(): { readonly promise: Promise<void>; readonly come: () => void } {
  let come = () => {};
  const promise = new Promise<void>((resolve) => (come = resolve));
  return { promise, come };
}
