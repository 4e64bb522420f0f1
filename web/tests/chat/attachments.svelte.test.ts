import { beforeEach, describe, expect, it } from "vitest";

import { Attachments } from "../../src/chat/attachments.svelte";
import { MemoryShelf } from "../../src/settings/shelf";
import type { Answer } from "../../src/wire/http";
import type { Kept } from "../../src/wire/rows";
import { calm } from "../server";

let shelf: MemoryShelf;
let sent: { file: File; progress: (share: number) => void; end: (answer: Answer<Kept>) => void; aborted: boolean }[];
let attachments: Attachments;

const page = () =>
  new Attachments(shelf, (file, progress) => {
    let end: (answer: Answer<Kept>) => void = () => {};
    const answer = new Promise<Answer<Kept>>((resolve) => (end = resolve));
    const upload = { file, progress, end, aborted: false };
    sent.push(upload);
    return { answer, abort: () => (upload.aborted = true) };
  });

const picture = new File(["x"], "cat.png", { type: "image/png" });

beforeEach(() => {
  shelf = new MemoryShelf();
  sent = [];
  attachments = page();
});

describe("attached files", () => {
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
    await calm();
    expect(attachments.take()).toEqual([
      { type: "image", blob: "h1", mime: "image/png", name: "cat.png" },
      { type: "document", blob: "h2", mime: "application/pdf", name: "notes.pdf" },
    ]);
    expect(attachments.items).toEqual([]);
  });

  it("say why one did not arrive, and do not send that one", async () => {
    attachments.add([picture]);
    sent[0]!.end({ kind: "refused", status: 413, code: "too_large", message: "The file is larger than 256 MB." });
    await calm();
    expect(attachments.items).toMatchObject([{ stage: "failed", problem: "The file is larger than 256 MB." }]);
    expect(attachments.take()).toEqual([]);
  });

  it("are called back when taken away", async () => {
    attachments.add([picture]);
    attachments.remove(attachments.items[0]!.key);
    expect(sent[0]!.aborted).toBe(true);
    sent[0]!.end({ kind: "ok", value: { hash: "h", mime: "image/png", size: 1 } });
    await calm();
    expect(attachments.items).toEqual([]);
  });

  it("outlive a reload, each conversation its own", async () => {
    attachments.add([picture]);
    sent[0]!.end({ kind: "ok", value: { hash: "h", mime: "image/png", size: 1 } });
    await calm();
    attachments.become("c");
    expect(page().items).toEqual([]);
    const again = page();
    again.turnTo("c");
    expect(again.items).toMatchObject([{ blob: "h" }]);
    again.turnTo(null);
    expect(again.items).toEqual([]);
  });

  it("come back from a message, but for what was no file", () => {
    attachments.putBack([
      { type: "text", text: "x" },
      { type: "image", blob: "h", mime: "image/png", name: "cat.png" },
      { type: "resource", server: "s", uri: "u" },
    ]);
    expect(attachments.items).toMatchObject([{ blob: "h", stage: "kept", name: "cat.png" }]);
  });
});
