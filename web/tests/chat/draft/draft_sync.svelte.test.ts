import { beforeEach, describe, expect, it } from "vitest";

import { Attachments } from "../../../src/chat/draft/attachments.svelte";
import { DraftSync } from "../../../src/chat/draft/draft_sync";
import { Draft } from "../../../src/chat/draft/draft.svelte";
import { Notices } from "../../../src/chat/announce/notices.svelte";
import { MemoryStorage } from "../../../src/settings/storage";
import { DraftClient } from "../../../src/wire/drafts";
import type { Fetch } from "../../../src/wire/transport/http";
import { FakeClock } from "../../clock";
import { calm } from "../../server";

/** Drafts as the server keeps them, with its own time. */
class Drafts {
  readonly kept = new Map<string, any>();
  readonly asked: string[] = [];
  away = false;
  time = 100;
  gate: Promise<void> | null = null;

  readonly fetch: Fetch = async (address, init = {}) => {
    const id = address.split("/").at(-1)!;
    const method = init.method ?? "GET";
    this.asked.push(`${method} ${id}${init.keepalive ? " leaving" : ""}`);
    if (this.away) throw new TypeError("failed to fetch");
    await this.gate;
    if (method === "PUT") this.kept.set(id, { ...JSON.parse(String(init.body)), updated: ++this.time });
    if (method === "DELETE") return this.kept.delete(id) ? new Response(null, { status: 204 }) : new Response(null, { status: 204 });
    return new Response(JSON.stringify(this.kept.get(id) ?? {}));
  };

  /** Another device writes. */
  writes(id: string, text: string, files: unknown[] = []): number {
    this.kept.set(id, { text, files, updated: ++this.time });
    return this.time;
  }
}

let server: Drafts;
let clock: FakeClock;
let storage: MemoryStorage;
let notices: Notices;
let draft: Draft;
let attachments: Attachments;
let keeper: DraftSync;
let mayStore: boolean;

/** A page on the same server; with the same shelf it is the same browser. */
function page(on: MemoryStorage): void {
  storage = on;
  draft = new Draft(storage);
  attachments = new Attachments(storage, () => {
    throw new Error("no uploads here");
  });
  notices = new Notices(clock);
  keeper = new DraftSync({ client: new DraftClient(server.fetch), clock, wall: () => server.time, storage, draft, attachments, conversation: null, notices, mayStore: () => mayStore });
  keeper.resume();
}

function switchTo(conversation: string | null): void {
  draft.switchTo(conversation);
  attachments.switchTo(conversation);
}

async function later(): Promise<void> {
  clock.pass(1000);
  await calm();
}

beforeEach(async () => {
  server = new Drafts();
  clock = new FakeClock();
  mayStore = true;
  page(new MemoryStorage());
  await calm();
});

describe("what is typed", () => {
  it("is on the server a second after the last key, and not before", async () => {
    draft.text = "on";
    clock.pass(900);
    draft.text = "once";
    clock.pass(900);
    await calm();
    expect(server.kept.size).toBe(0);
    clock.pass(100);
    await calm();
    expect(server.kept.get("new")).toMatchObject({ text: "once", files: [] });
  });

  it("goes there at once when the page goes away", async () => {
    draft.text = "wait";
    keeper.flushOnExit();
    await calm();
    expect(server.asked.at(-1)).toBe("PUT new leaving");
    keeper.flushOnExit();
    expect(server.asked.filter((one) => one.startsWith("PUT"))).toHaveLength(1);
  });

  it("goes there when another conversation is opened", async () => {
    switchTo("c");
    await calm();
    draft.text = "half a thought";
    switchTo("d");
    await calm();
    expect(server.kept.get("c")).toMatchObject({ text: "half a thought" });
    expect(draft.text).toBe("");
    switchTo("c");
    expect(draft.text).toBe("half a thought");
  });

  it("is taken away there when it was sent", async () => {
    draft.text = "hello";
    await later();
    draft.text = "";
    await later();
    expect(server.kept.size).toBe(0);
  });

  it("goes with a conversation that gets its name", async () => {
    draft.text = "first";
    await later();
    draft.text = "";
    draft.assignId("c");
    attachments.assignId("c");
    draft.text = "and then";
    await later();
    expect([...server.kept]).toMatchObject([["c", { text: "and then" }]]);
  });

  it("has its files with it", async () => {
    attachments.restore([{ type: "image", blob: "h", mime: "image/png", name: "cat.png" }]);
    await later();
    page(new MemoryStorage());
    await calm();
    expect(attachments.items).toMatchObject([{ blob: "h", name: "cat.png", stage: "kept" }]);
    expect(attachments.take()).toEqual([{ type: "image", blob: "h", mime: "image/png", name: "cat.png" }]);
  });

  it("stays here while the server is away, and goes there when it is back", async () => {
    server.away = true;
    draft.text = "patience";
    await later();
    page(storage);
    expect(draft.text).toBe("patience");
    await calm();
    server.away = false;
    keeper.resume();
    await calm();
    await later();
    expect(server.kept.get("new")).toMatchObject({ text: "patience" });
  });

  it("is not told to the server where the chat is to be temporary", async () => {
    mayStore = false;
    server.asked.length = 0;
    draft.text = "secret";
    await later();
    keeper.flushOnExit();
    expect(server.asked).toEqual([]);
    expect(draft.text).toBe("secret");
  });

  it("before anybody kept it is not taken for old", async () => {
    draft.text = "one";
    await later();
    const again = new Draft(storage);
    again.text = "one two";
    attachments = new Attachments(storage, () => {
      throw new Error("no uploads here");
    });
    new DraftSync({ client: new DraftClient(server.fetch), clock, wall: () => server.time, storage, draft: again, attachments, conversation: null, notices, mayStore: () => true }).resume();
    await calm();
    expect(again.text).toBe("one two");
    await later();
    expect(server.kept.get("new")).toMatchObject({ text: "one two" });
  });

  it("that is being sent while more is typed is sent once more", async () => {
    let open = () => {};
    server.gate = new Promise((resolve) => (open = resolve));
    draft.text = "one";
    await later();
    draft.text = "one two";
    open();
    await calm();
    await later();
    expect(server.kept.get("new")).toMatchObject({ text: "one two" });
  });
});

describe("what another device typed", () => {
  it("is here when the conversation is opened", async () => {
    server.writes("c", "from the phone");
    switchTo("c");
    await calm();
    expect(draft.text).toBe("from the phone");
    expect(notices.current).toBeNull();
  });

  it("appears while one looks, and goes when it was sent there", async () => {
    keeper.handleEvent({ type: "draft", conversation: "new", updated: server.writes("new", "typing") });
    await calm();
    expect(draft.text).toBe("typing");
    server.kept.clear();
    keeper.handleEvent({ type: "draft", conversation: "new", updated: 0 });
    await calm();
    expect(draft.text).toBe("");
  });

  it("of another conversation is no matter here", async () => {
    server.asked.length = 0;
    keeper.handleEvent({ type: "draft", conversation: "other", updated: server.writes("other", "x") });
    await calm();
    expect(server.asked).toEqual([]);
  });

  it("is not asked for when it is only the echo of what was sent from here", async () => {
    draft.text = "mine";
    await later();
    server.asked.length = 0;
    keeper.handleEvent({ type: "draft", conversation: "new", updated: server.time });
    await calm();
    expect(server.asked).toEqual([]);
  });

  it("does not take the place of what is being typed", async () => {
    draft.text = "mine";
    keeper.handleEvent({ type: "draft", conversation: "new", updated: server.writes("new", "theirs") });
    await calm();
    expect(draft.text).toBe("mine");
    await later();
    expect(server.kept.get("new")).toMatchObject({ text: "mine" });
  });

  it("is taken where it is newer, and what was here can be brought back", async () => {
    server.away = true;
    draft.text = "older";
    await later();
    server.away = false;
    server.time += 50;
    server.writes("new", "newer");
    page(storage);
    await calm();
    expect(draft.text).toBe("newer");
    notices.current!.action!.run();
    expect(draft.text).toBe("older");
    await later();
    expect(server.kept.get("new")).toMatchObject({ text: "older" });
  });

  it("is left where it is older, and can be had", async () => {
    server.writes("c", "older");
    server.away = true;
    switchTo("c");
    await calm();
    server.time += 50;
    draft.text = "newer";
    await later();
    server.away = false;
    keeper.resume();
    await calm();
    expect(draft.text).toBe("newer");
    notices.current!.action!.run();
    expect(draft.text).toBe("older");
  });

  it("that is the same is no news", async () => {
    server.away = true;
    draft.text = "same";
    await later();
    server.away = false;
    server.writes("new", "same");
    keeper.resume();
    await calm();
    await later();
    expect(notices.current).toBeNull();
    expect(server.asked.filter((one) => one.startsWith("PUT"))).toHaveLength(1);
  });
});

describe("what is given back to a conversation that is not looked at", () => {
  it("is sent to the server when that is looked at again", async () => {
    page(new MemoryStorage());
    await calm();
    switchTo("c");
    await calm();
    draft.prepend(null, "said");
    expect(draft.text).toBe("");
    switchTo(null);
    await calm();
    expect(draft.text).toBe("said");
    clock.pass(1500);
    await calm();
    expect(server.kept.get("new")?.text).toBe("said");
  });
});

describe("before somebody leaves", () => {
  it("what was typed a moment ago is with the server", async () => {
    draft.text = "one";
    await keeper.flush();
    expect(server.kept.get("new")?.text).toBe("one");
    const asked = server.asked.length;
    await keeper.flush();
    expect(server.asked).toHaveLength(asked);
  });
});
