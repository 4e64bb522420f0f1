import { describe, expect, it } from "vitest";

import { Imports } from "../../src/settings/imports.svelte";
import type { ImportReport } from "../../src/wire/chat/conversations";
import type { Answer } from "../../src/wire/transport/http";
import { settle } from "../server";

const REPORT: ImportReport = { imported: 2, skipped: 1, problems: ["Line 3 is damaged."], conversations: ["a", "b"] };

function made() {
  const sent: { name: string; progress: (share: number) => void; answer: (answer: Answer<ImportReport>) => void }[] = [];
  const aborted: string[] = [];
  const imports = new Imports((file, progress) => {
    let answer: (answer: Answer<ImportReport>) => void = () => undefined;
    const promise = new Promise<Answer<ImportReport>>((resolve) => (answer = resolve));
    sent.push({ name: file.name, progress, answer });
    return {
      answer: promise,
      abort: () => {
        aborted.push(file.name);
        answer({ kind: "unreachable" });
      },
    };
  });
  return { imports, sent, aborted };
}

const file = (name: string) => new File(["{}"], name);

describe("imports", () => {
  it("run one after the other, with progress and result", async () => {
    const { imports, sent } = made();
    imports.add([file("one.zip"), file("two.json")]);
    expect(sent.map(({ name }) => name)).toEqual(["one.zip"]);
    expect(imports.items.map(({ stage }) => stage)).toEqual(["sending", "waiting"]);
    sent[0]!.progress(0.5);
    expect(imports.items[0]).toMatchObject({ stage: "sending", share: 0.5 });
    sent[0]!.progress(1);
    expect(imports.items[0]).toMatchObject({ stage: "reading" });
    sent[0]!.answer({ kind: "ok", value: REPORT });
    await settle();
    expect(imports.items[0]).toMatchObject({ stage: "done", report: REPORT });
    expect(sent.map(({ name }) => name)).toEqual(["one.zip", "two.json"]);
    expect(imports.busy).toBe(true);
    sent[1]!.answer({ kind: "refused", message: "This is no export.", code: "bad", status: 400 });
    await settle();
    expect(imports.items[1]).toMatchObject({ stage: "failed", problem: "This is no export." });
    expect(imports.busy).toBe(false);
  });

  it("can be called off, before and while they are sent", async () => {
    const { imports, sent, aborted } = made();
    imports.add([file("one"), file("two"), file("three")]);
    imports.remove(imports.items[1]!.key);
    imports.remove(imports.items[0]!.key);
    await settle();
    expect(aborted).toEqual(["one"]);
    expect(sent.map(({ name }) => name)).toEqual(["one", "three"]);
    expect(imports.items.map(({ name }) => name)).toEqual(["three"]);
  });
});
