import { beforeEach, describe, expect, it } from "vitest";

import { type AttachmentRules, Attachments, attachmentsOf } from "../../../src/chat/draft/attachments.svelte";
import { MemoryStorage } from "../../../src/settings/storage";
import type { Answer } from "../../../src/wire/transport/http";
import type { StoredFile } from "../../../src/wire/chat/rows";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

let storage: MemoryStorage;
let sent: { file: File; progress: (share: number) => void; end: (answer: Answer<StoredFile>) => void; aborted: boolean }[];
let attachments: Attachments;
let complaints: string[];
let clock: FakeClock;

const page = (rules: Partial<AttachmentRules> = {}) =>
  new Attachments(
    storage,
    (file, progress) => {
      let end: (answer: Answer<StoredFile>) => void = () => {};
      const answer = new Promise<Answer<StoredFile>>((resolve) => (end = resolve));
      const upload = { file, progress, end, aborted: false };
      sent.push(upload);
      return { answer, abort: () => (upload.aborted = true) };
    },
    { limits: () => ({}), isSupported: () => true, documentMode: ({ given }) => given, reportProblem: (sentence) => complaints.push(sentence), after: (milliseconds, action) => clock.after(milliseconds, action), inspect: async () => ({ problem: "", scan: false }), thumbnailProblem: async () => "", ...rules },
  );

const kept = (hash: string, mime: string): Answer<StoredFile> => ({ kind: "ok", value: { hash, mime, size: 1 } });

/** The connection breaks at every attempt. */
async function unreachable(): Promise<void> {
  for (let before = -1; before < sent.length; ) {
    before = sent.length;
    sent.at(-1)!.end({ kind: "unreachable" });
    await settle();
    clock.pass(60_000);
    await settle();
  }
}

const picture = new File(["x"], "cat.png", { type: "image/png" });

beforeEach(() => {
  storage = new MemoryStorage();
  sent = [];
  complaints = [];
  clock = new FakeClock();
  attachments = page();
});

describe("attached files", () => {
  it("that the server cannot read say so before they are sent", async () => {
    let problem = "";
    attachments = page({ thumbnailProblem: async () => problem });
    attachments.add([picture]);
    sent[0]!.end(kept("a1", "image/png"));
    await settle();
    await attachments.thumbnailFailed(attachments.items[0]!);
    expect(attachments.items[0]!.problem).toBe("");
    problem = "It takes too much time.";
    await attachments.thumbnailFailed(attachments.items[0]!);
    expect(attachments.items).toMatchObject([{ stage: "kept", problem }]);
  });

  it("go to the server at once, and tell how far they are", () => {
    attachments.add([picture]);
    sent[0]!.progress(0.5);
    expect(attachments.items).toMatchObject([{ name: "cat.png", stage: "sending", share: 0.5 }]);
    expect([attachments.busy, attachments.ready]).toEqual([true, false]);
  });

  it("belong to the message they are taken for", async () => {
    attachments.add([picture, new File(["y"], "notes.pdf", { type: "application/pdf" })]);
    sent[0]!.end({ kind: "ok", value: { hash: "h1", mime: "image/png", size: 1 } });
    sent[1]!.end({ kind: "ok", value: { hash: "h2", mime: "application/pdf", size: 1 } });
    await settle();
    expect(attachments.take()).toEqual([
      { type: "image", blob: "h1", mime: "image/png", name: "cat.png" },
      { type: "document", blob: "h2", mime: "application/pdf", name: "notes.pdf" },
    ]);
    expect(attachments.items).toEqual([]);
  });

  it("say why one did not arrive, and do not send that one", async () => {
    attachments.add([picture]);
    sent[0]!.end({ kind: "refused", status: 413, code: "too_large", message: "The file is larger than 256 MB." });
    await settle();
    expect(attachments.items).toMatchObject([{ stage: "failed", problem: "The file is larger than 256 MB." }]);
    expect(attachments.take()).toEqual([]);
  });

  it("are aborted when removed", async () => {
    attachments.add([picture]);
    attachments.remove(attachments.items[0]!.key);
    expect(sent[0]!.aborted).toBe(true);
    sent[0]!.end({ kind: "ok", value: { hash: "h", mime: "image/png", size: 1 } });
    await settle();
    expect(attachments.items).toEqual([]);
  });

  it("outlive a reload, each conversation its own", async () => {
    attachments.add([picture]);
    sent[0]!.end({ kind: "ok", value: { hash: "h", mime: "image/png", size: 1 } });
    await settle();
    attachments.assignId("c");
    expect(page().items).toEqual([]);
    const again = page();
    again.switchTo("c");
    expect(again.items).toMatchObject([{ blob: "h" }]);
    again.switchTo(null);
    expect(again.items).toEqual([]);
  });

  it("come back from a message, resources too", () => {
    const resource = { type: "resource", server: "s", uri: "notes://1" } as const;
    attachments.restore([{ type: "text", text: "x" }, { type: "image", blob: "h", mime: "image/png", name: "cat.png" }, resource]);
    expect(attachments.items).toMatchObject([{ blob: "h", stage: "kept", name: "cat.png" }, { name: "notes://1", stage: "kept" }]);
    expect(attachments.take()).toEqual([{ type: "image", blob: "h", mime: "image/png", name: "cat.png" }, resource]);
  });

  it("are sent three at a time, the others after them", async () => {
    attachments.add(["a", "b", "c", "d", "e"].map((name) => new File([name], name)));
    expect(sent.map(({ file }) => file.name)).toEqual(["a", "b", "c"]);
    sent[1]!.end(kept("h", "text/plain"));
    await settle();
    expect(sent.map(({ file }) => file.name)).toEqual(["a", "b", "c", "d"]);
    attachments.remove(attachments.items[0]!.key);
    expect(sent.map(({ file }) => file.name)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("arrive though another conversation is looked at", async () => {
    attachments.switchTo("c");
    attachments.add([picture]);
    attachments.switchTo("d");
    expect(attachments.items).toEqual([]);
    sent[0]!.end(kept("h", "image/png"));
    await settle();
    expect(attachments.items).toEqual([]);
    attachments.switchTo("c");
    expect(attachments.items).toMatchObject([{ blob: "h", stage: "kept" }]);
  });

  it("are called back with their conversation", () => {
    attachments.switchTo("c");
    attachments.add([picture]);
    attachments.switchTo("d");
    attachments.delete("c");
    expect(sent[0]!.aborted).toBe(true);
  });

  it("are retried on request, if there is a file", async () => {
    attachments.add([picture]);
    await unreachable();
    const [item] = attachments.items;
    expect(attachments.canRetry(item!)).toBe(true);
    attachments.retry(item!.key);
    expect(attachments.items).toMatchObject([{ stage: "sending", problem: "" }]);
    sent.at(-1)!.end(kept("h", "image/png"));
    await settle();
    expect(attachments.items).toMatchObject([{ stage: "kept", blob: "h" }]);
    attachments.retry(item!.key);
    expect(sent).toHaveLength(4);
  });

  it("begin again by themselves when the connection broke", async () => {
    attachments.add([picture]);
    sent[0]!.progress(0.7);
    sent[0]!.end({ kind: "unreachable" });
    await settle();
    expect(attachments.items).toMatchObject([{ stage: "sending", interrupted: true, share: 0 }]);
    expect([attachments.busy, sent.length]).toEqual([true, 1]);
    clock.pass(1000);
    await settle();
    sent[1]!.progress(0.2);
    expect(attachments.items).toMatchObject([{ interrupted: false, share: 0.2 }]);
    sent[1]!.end(kept("h", "image/png"));
    await settle();
    expect(attachments.items).toMatchObject([{ stage: "kept", interrupted: false }]);
  });

  it("have all tries again after one that came further than those before", async () => {
    attachments.add([picture]);
    for (const share of [0.2, 0.4, 0.6, 0.8]) {
      sent.at(-1)!.progress(share);
      sent.at(-1)!.end({ kind: "unreachable" });
      await settle();
      clock.pass(60_000);
      await settle();
    }
    expect([sent.length, attachments.busy]).toEqual([5, true]);
    await unreachable();
    expect(attachments.items).toMatchObject([{ stage: "failed" }]);
  });

  it("do not begin again once they are removed, and leave their place to others", async () => {
    attachments.add([picture, picture, picture, new File(["y"], "fourth.txt")]);
    sent[0]!.end({ kind: "unreachable" });
    await settle();
    attachments.remove(attachments.items[0]!.key);
    clock.pass(60_000);
    await settle();
    expect(sent.map(({ file }) => file.name)).toEqual(["cat.png", "cat.png", "cat.png", "fourth.txt"]);
  });

  it("are sent again once the server is reachable, those that it refused are not", async () => {
    attachments.add([picture]);
    await unreachable();
    attachments.add([new File(["y"], "refused.txt")]);
    sent.at(-1)!.end({ kind: "refused", status: 413, code: "too_large", message: "Too large." });
    await settle();
    const before = sent.length;
    attachments.switchTo("c");
    attachments.resume();
    expect(sent.slice(before).map(({ file }) => file.name)).toEqual(["cat.png"]);
    attachments.resume();
    expect(sent).toHaveLength(before + 1);
  });

  it("are refused before they are sent, with the setting's name", () => {
    attachments = page({ limits: () => ({ attachments: 2, blob_bytes: 2 ** 20 }) });
    const large = new File([new Uint8Array(2 ** 20 + 1)], "film.mp4", { type: "video/mp4" });
    attachments.add([large, picture, picture, picture]);
    expect(attachments.items).toMatchObject([{ stage: "failed", problem: expect.stringContaining("limits.blob_mb") }, { stage: "sending" }]);
    expect(complaints).toEqual([expect.stringMatching(/up to 2 files.*limits\.attachments.* 2 were left out/)]);
    expect(attachments.canRetry(attachments.items[0]!)).toBe(false);
  });

  it("stay behind where the model cannot take them", async () => {
    attachments = page({ isSupported: ({ mime }) => !mime.startsWith("image/") });
    attachments.add([picture, new File(["y"], "notes.txt")]);
    sent[0]!.end(kept("h1", "image/png"));
    await settle();
    expect(attachments.ready).toBe(false);
    sent[1]!.end(kept("h2", "text/plain"));
    await settle();
    expect(attachments.ready).toBe(true);
    expect(attachments.take()).toMatchObject([{ blob: "h2" }]);
    expect(attachments.items).toMatchObject([{ blob: "h1" }]);
  });

  it("of text show how they begin, and a document how it is given", async () => {
    const key = attachments.addText("First line.\n  Second line.", "Pasted text.txt");
    sent[0]!.end(kept("h", "text/plain"));
    for (let turn = 0; turn < 5; turn++) await settle();
    expect(attachments.items).toMatchObject([{ key, beginning: "First line. Second line." }]);
    attachments.restore([{ type: "document", blob: "p", mime: "application/pdf", name: "a.pdf" }]);
    const pdf = attachments.items[1]!.key;
    attachments.setDocumentMode(pdf, "pages");
    expect(attachments.items[1]).toMatchObject({ given: "pages" });
    attachments.setDocumentMode(pdf, undefined);
    expect("given" in attachments.items[1]!).toBe(false);
    attachments.setDocumentMode(pdf, "text");
    expect(attachments.take()).toMatchObject([{ type: "document" }, { type: "document", given: "text" }]);
  });

  it("tell of changes that would outlive a reload, and not of progress", async () => {
    let changes = 0;
    attachments.changed = () => changes++;
    attachments.add([picture]);
    sent[0]!.progress(0.5);
    expect(changes).toBe(0);
    sent[0]!.end(kept("h", "image/png"));
    await settle();
    expect(changes).toBe(1);
  });

  it("are read from what was kept, and nothing else is", () => {
    expect(attachmentsOf({})).toEqual([]);
    expect(attachmentsOf([null, 1, { key: "a" }, { key: "a", blob: "h", stage: "failed" }])).toEqual([]);
    expect(attachmentsOf([{ key: "a", blob: "h", stage: "kept", name: "n" }])).toMatchObject([{ key: "a", size: 0, mime: "" }]);
  });
});

describe("attached files that did not arrive, or not yet", () => {
  it("wait while another conversation is looked at, to be tried again", async () => {
    attachments.add([picture]);
    await unreachable();
    attachments.switchTo("c");
    attachments.switchTo(null);
    expect(attachments.items).toMatchObject([{ name: "cat.png", stage: "failed" }]);
    expect(attachments.canRetry(attachments.items[0]!)).toBe(true);
  });

  it("stay beside what another device has attached", async () => {
    attachments.add([picture]);
    attachments.replace(attachmentsOf([{ key: "k", name: "notes.pdf", mime: "application/pdf", stage: "kept", share: 1, blob: "h", problem: "", size: 1 }]));
    expect(attachments.items.map(({ name }) => name)).toEqual(["notes.pdf", "cat.png"]);
    expect(sent[0]!.aborted).toBe(false);
  });

  it("are no file of a text for which there was no room", () => {
    attachments = page({ limits: () => ({ attachments: 1 }) });
    attachments.add([picture]);
    expect(attachments.addText("long", "Pasted text.txt")).toBe("");
    expect(attachments.items.map(({ name }) => name)).toEqual(["cat.png"]);
  });

  it("go back to a conversation that is not looked at", () => {
    attachments.switchTo("c");
    attachments.restore([{ type: "image", blob: "h", mime: "image/png", name: "cat.png" }], null);
    expect(attachments.items).toEqual([]);
    attachments.switchTo(null);
    expect(attachments.items).toMatchObject([{ name: "cat.png", blob: "h" }]);
  });
});
