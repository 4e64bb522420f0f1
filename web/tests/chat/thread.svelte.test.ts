import { beforeEach, describe, expect, it } from "vitest";

import { Thread } from "../../src/chat/thread.svelte";
import { messageOf, type SparseMessage } from "../../src/wire/chat/rows";

let thread: Thread;

const message = (id: string, parent: string | null, sequence: number, more: Partial<SparseMessage> = {}) =>
  messageOf({ id, parent, role: sequence % 2 ? "user" : "assistant", sequence, content: [{ type: "text", text: id }], ...more });
const ids = () => thread.path.map(({ id }) => id).join("");

beforeEach(() => {
  thread = new Thread();
  thread.load([message("a", null, 1), message("b", "a", 2), message("c", "a", 4)], "b");
});

describe("the page's copy of a conversation", () => {
  it("shows the branch the server stands at, or else the newest", () => {
    expect(ids()).toBe("ab");
    thread.load([message("a", null, 1), message("b", "a", 2), message("c", "a", 4)], "gone");
    expect(ids()).toBe("ac");
  });

  it("keeps the rows it knows when it is loaded again", () => {
    const row = thread.get("b");
    thread.load([message("a", null, 1), message("b", "a", 2, { edited: 9 })], "b");
    expect(thread.get("b")).toBe(row);
    expect(row?.message.edited).toBe(9);
  });

  it("shows a new row, and gives it the place of the one that stood in for it", () => {
    const waiting = thread.put(messageOf({ id: "run", parent: "b", role: "assistant" }));
    expect(ids()).toBe("abrun");
    const row = thread.put(message("d", "b", 6), waiting);
    expect(ids()).toBe("abd");
    expect(row.key).toBe("run");
  });

  it("orders a row made here after those the server knows, until it has its number", () => {
    thread.put(messageOf({ id: "d", parent: "a", role: "assistant" }));
    expect(thread.versions(thread.get("b")!).map(({ id }) => id).join("")).toBe("bcd");
    const row = thread.put(message("d", "a", 3));
    expect([row.key, row.sequence]).toEqual(["d", 3]);
  });

  it("takes rows away with all below them, and shows what is near", () => {
    thread.remove(["b"]);
    expect(ids()).toBe("ac");
    thread.remove(["a"]);
    expect(ids()).toBe("");
  });

  it("takes nothing back that is shown while a stream is heard again", () => {
    thread.load([message("a", null, 1), message("b", "a", 2, { status: "running", content: [{ type: "text", text: "half a" }] })], "b");
    thread.put(message("b", "a", 2, { status: "running", content: [] }));
    thread.put(message("b", "a", 2, { status: "running", content: [{ type: "text", text: "half" }] }));
    expect(thread.get("b")?.text).toBe("half a");
    thread.put(message("b", "a", 2, { status: "running", content: [{ type: "text", text: "half a reply" }] }));
    expect(thread.get("b")?.text).toBe("half a reply");
    thread.put(message("b", "a", 2, { status: "stopped", content: [{ type: "text", text: "half" }] }));
    expect(thread.get("b")?.text).toBe("half");
  });

  it("keeps a finished row when its run is replayed, and lets another run continue it", () => {
    const ended = message("b", "a", 2, { status: "stopped", run: "r", content: [{ type: "text", text: "half" }] });
    thread.load([message("a", null, 1), ended], "b");
    thread.put({ ...ended, status: "running", content: [] });
    thread.put({ ...ended, status: "running" });
    expect(thread.get("b")?.message.status).toBe("stopped");
    thread.put({ ...ended, status: "running", run: "s" });
    expect(thread.get("b")?.message.status).toBe("running");
  });
});
