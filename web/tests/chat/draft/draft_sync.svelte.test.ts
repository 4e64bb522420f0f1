import { beforeEach, describe, expect, it } from "vitest";

import { Attachments } from "../../../src/chat/draft/attachments.svelte";
import { DraftSync } from "../../../src/chat/draft/draft_sync";
import { Draft } from "../../../src/chat/draft/draft.svelte";
import { Notices } from "../../../src/chat/announce/notices.svelte";
import { MemoryStorage } from "../../../src/settings/storage";
import { DraftClient } from "../../../src/wire/chat/drafts";
import type { Fetch } from "../../../src/wire/transport/http";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

/** A fake draft API with its own clock. */
class Drafts {
  readonly drafts = new Map<string, any>();
  readonly requests: string[] = [];
  unreachable = false;
  time = 100;
  gate: Promise<void> | null = null;

  readonly fetch: Fetch = async (address, init = {}) => {
    const id = address.split("/").at(-1)!;
    const method = init.method ?? "GET";
    this.requests.push(`${method} ${id}${init.keepalive ? " leaving" : ""}`);
    if (this.unreachable) throw new TypeError("failed to fetch");
    await this.gate;
    if (method === "PUT") this.drafts.set(id, { ...JSON.parse(String(init.body)), updated: ++this.time });
    if (method === "DELETE") return this.drafts.delete(id) ? new Response(null, { status: 204 }) : new Response(null, { status: 204 });
    return new Response(JSON.stringify(this.drafts.get(id) ?? {}));
  };

  /** Another device saves a draft. */
  write(id: string, text: string, files: unknown[] = []): number {
    this.drafts.set(id, { text, files, updated: ++this.time });
    return this.time;
  }
}

let server: Drafts;
let clock: FakeClock;
let storage: MemoryStorage;
let notices: Notices;
let draft: Draft;
let attachments: Attachments;
let sync: DraftSync;
let mayStore: boolean;

/** A page on the same server; with the same storage it is the same browser. */
function page(on: MemoryStorage): void {
  storage = on;
  draft = new Draft(storage);
  attachments = new Attachments(storage, () => {
    throw new Error("no uploads here");
  });
  notices = new Notices(clock);
  sync = new DraftSync({ client: new DraftClient(server.fetch), clock, wall: () => server.time, storage, draft, attachments, conversation: null, notices, mayStore: () => mayStore });
  sync.resume();
}

function switchTo(conversation: string | null): void {
  draft.switchTo(conversation);
  attachments.switchTo(conversation);
}

async function later(): Promise<void> {
  clock.pass(1000);
  await settle();
}

beforeEach(async () => {
  server = new Drafts();
  clock = new FakeClock();
  mayStore = true;
  page(new MemoryStorage());
  await settle();
});

describe("what is typed", () => {
  it("is on the server a second after the last key, and not before", async () => {
    draft.text = "on";
    clock.pass(900);
    draft.text = "once";
    clock.pass(900);
    await settle();
    expect(server.drafts.size).toBe(0);
    clock.pass(100);
    await settle();
    expect(server.drafts.get("new")).toMatchObject({ text: "once", files: [] });
  });

  it("goes there at once when the page goes away", async () => {
    draft.text = "wait";
    sync.flushOnExit();
    await settle();
    expect(server.requests.at(-1)).toBe("PUT new leaving");
    sync.flushOnExit();
    expect(server.requests.filter((one) => one.startsWith("PUT"))).toHaveLength(1);
  });

  it("goes there when another conversation is opened", async () => {
    switchTo("c");
    await settle();
    draft.text = "half a thought";
    switchTo("d");
    await settle();
    expect(server.drafts.get("c")).toMatchObject({ text: "half a thought" });
    expect(draft.text).toBe("");
    switchTo("c");
    expect(draft.text).toBe("half a thought");
  });

  it("is deleted there once sent", async () => {
    draft.text = "hello";
    await later();
    draft.text = "";
    await later();
    expect(server.drafts.size).toBe(0);
  });

  it("goes with a conversation that gets its name", async () => {
    draft.text = "first";
    await later();
    draft.text = "";
    draft.assignId("c");
    attachments.assignId("c");
    draft.text = "and then";
    await later();
    expect([...server.drafts]).toMatchObject([["c", { text: "and then" }]]);
  });

  it("has its files with it", async () => {
    attachments.restore([{ type: "image", blob: "h", mime: "image/png", name: "cat.png" }]);
    await later();
    page(new MemoryStorage());
    await settle();
    expect(attachments.items).toMatchObject([{ blob: "h", name: "cat.png", stage: "kept" }]);
    expect(attachments.take()).toEqual([{ type: "image", blob: "h", mime: "image/png", name: "cat.png" }]);
  });

  it("stays here while the server is away, and goes there when it is back", async () => {
    server.unreachable = true;
    draft.text = "patience";
    await later();
    page(storage);
    expect(draft.text).toBe("patience");
    await settle();
    server.unreachable = false;
    sync.resume();
    await settle();
    await later();
    expect(server.drafts.get("new")).toMatchObject({ text: "patience" });
  });

  it("is not stored for a temporary chat", async () => {
    mayStore = false;
    server.requests.length = 0;
    draft.text = "secret";
    await later();
    sync.flushOnExit();
    expect(server.requests).toEqual([]);
    expect(draft.text).toBe("secret");
  });

  it("from before syncing existed does not count as old", async () => {
    draft.text = "one";
    await later();
    const again = new Draft(storage);
    again.text = "one two";
    attachments = new Attachments(storage, () => {
      throw new Error("no uploads here");
    });
    new DraftSync({ client: new DraftClient(server.fetch), clock, wall: () => server.time, storage, draft: again, attachments, conversation: null, notices, mayStore: () => true }).resume();
    await settle();
    expect(again.text).toBe("one two");
    await later();
    expect(server.drafts.get("new")).toMatchObject({ text: "one two" });
  });

  it("that is being sent while more is typed is sent once more", async () => {
    let open = () => {};
    server.gate = new Promise((resolve) => (open = resolve));
    draft.text = "one";
    await later();
    draft.text = "one two";
    open();
    await settle();
    await later();
    expect(server.drafts.get("new")).toMatchObject({ text: "one two" });
  });
});

describe("what another device typed", () => {
  it("is here when the conversation is opened", async () => {
    server.write("c", "from the phone");
    switchTo("c");
    await settle();
    expect(draft.text).toBe("from the phone");
    expect(notices.current).toBeNull();
  });

  it("appears while the page is open, and disappears when it was sent", async () => {
    sync.handleEvent({ type: "draft", conversation: "new", updated: server.write("new", "typing") });
    await settle();
    expect(draft.text).toBe("typing");
    server.drafts.clear();
    sync.handleEvent({ type: "draft", conversation: "new", updated: 0 });
    await settle();
    expect(draft.text).toBe("");
  });

  it("of another conversation is ignored", async () => {
    server.requests.length = 0;
    sync.handleEvent({ type: "draft", conversation: "other", updated: server.write("other", "x") });
    await settle();
    expect(server.requests).toEqual([]);
  });

  it("is not read again after its own echo", async () => {
    draft.text = "mine";
    await later();
    server.requests.length = 0;
    sync.handleEvent({ type: "draft", conversation: "new", updated: server.time });
    await settle();
    expect(server.requests).toEqual([]);
  });

  it("does not take the place of what is being typed", async () => {
    draft.text = "mine";
    sync.handleEvent({ type: "draft", conversation: "new", updated: server.write("new", "theirs") });
    await settle();
    expect(draft.text).toBe("mine");
    await later();
    expect(server.drafts.get("new")).toMatchObject({ text: "mine" });
  });

  it("is taken where it is newer, and what was here can be brought back", async () => {
    server.unreachable = true;
    draft.text = "older";
    await later();
    server.unreachable = false;
    server.time += 50;
    server.write("new", "newer");
    page(storage);
    await settle();
    expect(draft.text).toBe("newer");
    notices.current!.action!.run();
    expect(draft.text).toBe("older");
    await later();
    expect(server.drafts.get("new")).toMatchObject({ text: "older" });
  });

  it("is left where it is older, and can be had", async () => {
    server.write("c", "older");
    server.unreachable = true;
    switchTo("c");
    await settle();
    server.time += 50;
    draft.text = "newer";
    await later();
    server.unreachable = false;
    sync.resume();
    await settle();
    expect(draft.text).toBe("newer");
    notices.current!.action!.run();
    expect(draft.text).toBe("older");
  });

  it("that is equal changes nothing", async () => {
    server.unreachable = true;
    draft.text = "same";
    await later();
    server.unreachable = false;
    server.write("new", "same");
    sync.resume();
    await settle();
    await later();
    expect(notices.current).toBeNull();
    expect(server.requests.filter((one) => one.startsWith("PUT"))).toHaveLength(1);
  });
});

describe("what is given back to a conversation that is not looked at", () => {
  it("is sent to the server when that is looked at again", async () => {
    page(new MemoryStorage());
    await settle();
    switchTo("c");
    await settle();
    draft.prepend(null, "said");
    expect(draft.text).toBe("");
    switchTo(null);
    await settle();
    expect(draft.text).toBe("said");
    clock.pass(1500);
    await settle();
    expect(server.drafts.get("new")?.text).toBe("said");
  });
});

describe("before somebody leaves", () => {
  it("what was typed a moment ago is with the server", async () => {
    draft.text = "one";
    await sync.flush();
    expect(server.drafts.get("new")?.text).toBe("one");
    const requests = server.requests.length;
    await sync.flush();
    expect(server.requests).toHaveLength(requests);
  });
});
