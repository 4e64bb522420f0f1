import { describe, expect, it } from "vitest";

import { AuditLog, detailText } from "../../src/admin/audit_log.svelte";
import { type AuditPage, csvAddress } from "../../src/wire/server/audit";
import type { Answer } from "../../src/wire/transport/http";

const row = (number: number, name = "ada") => ({ number, at: number, name, user: "u", key: "", act: "key.create", target: "", outcome: "done" as const, address: "", details: {} });

function made(pages: Record<number, AuditPage>) {
  const asked: unknown[] = [];
  const waiting: ((answer: Answer<AuditPage>) => void)[] = [];
  let held = false;
  const log = new AuditLog({
    page: async (filter, before) => {
      asked.push({ ...filter, before });
      if (held) return new Promise<Answer<AuditPage>>((resolve) => waiting.push(resolve));
      const page = pages[before];
      return page === undefined ? { kind: "unreachable" } : { kind: "ok", value: page };
    },
  });
  return { log, asked, waiting, hold: () => (held = true) };
}

describe("the audit log", () => {
  it("shows the newest, and older ones on request", async () => {
    const { log } = made({ 0: { rows: [row(3), row(2, "bob")], next: 2 }, 2: { rows: [row(1)], next: null } });
    await log.load();
    expect([log.hasMore, log.names]).toEqual([true, ["ada", "bob"]]);
    await log.loadOlder();
    await log.loadOlder();
    expect(log.rows.map(({ number }) => number)).toEqual([3, 2, 1]);
    expect(log.hasMore).toBe(false);
  });

  it("is asked again from the newest for another filter, and keeps the names it knows", async () => {
    const { log, asked } = made({ 0: { rows: [row(3)], next: null } });
    await log.load();
    await log.show({ actor: "bob" });
    await log.show({ act: "key." });
    expect(asked).toEqual([
      { actor: "", act: "", before: 0 },
      { actor: "bob", act: "", before: 0 },
      { actor: "bob", act: "key.", before: 0 },
    ]);
    expect(log.names).toEqual(["ada"]);
  });

  it("drops the answer to an earlier question", async () => {
    const { log, waiting, hold } = made({});
    hold();
    const first = log.show({ actor: "ada" });
    const second = log.show({ actor: "bob" });
    waiting[1]?.({ kind: "ok", value: { rows: [row(2, "bob")], next: null } });
    waiting[0]?.({ kind: "ok", value: { rows: [row(1, "ada")], next: null } });
    await Promise.all([first, second]);
    expect(log.rows.map(({ name }) => name)).toEqual(["bob"]);
  });

  it("says when the server cannot be reached", async () => {
    const { log } = made({});
    await log.load();
    expect(log.problem).not.toBe("");
    expect(log.loaded).toBe(false);
  });

  it("has its details in a line, and a file of its rows", () => {
    expect(detailText({ role: "admin", disabled: true, models: ["a"], long: "x".repeat(99) })).toBe(`role: admin, disabled: true, models: ["a"], long: ${"x".repeat(60)}…`);
    expect(detailText({ expires: 4102444800000 })).toBe("expires: 2100-01-01");
    expect(csvAddress({ actor: "ada b", act: "key." })).toBe("api/admin/audit?actor=ada+b&act=key.&limit=1000&format=csv");
  });
});
