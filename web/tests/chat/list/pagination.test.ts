import { describe, expect, it } from "vitest";

import { ALL, cursorAfterReload, loadedRows, matches, mergePage } from "../../../src/chat/list/pagination";
import { conversation as row } from "../../rows";

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).join(" ");
const folder = { ...ALL, folder: "f" };

describe("a view", () => {
  it("holds what belongs in it", () => {
    const one = row("a", 1, { folder: "f", tags: ["tea"] });
    expect([ALL, folder, { ...ALL, tag: "tea" }].every((view) => matches(view, one))).toBe(true);
    expect(matches({ ...ALL, folder: "g" }, one)).toBe(false);
    expect(matches({ ...ALL, archived: true }, one)).toBe(false);
    expect(matches(ALL, row("b", 1, { temporary: true }))).toBe(false);
  });

  it("ends where it was read to, whatever else is known", () => {
    const known = [row("d", 4), row("c", 3), row("b", 2, { folder: "f" }), row("a", 1, { pinned: true })];
    expect(ids(loadedRows(known, ALL, "3.c"))).toBe("d c a");
    expect(ids(loadedRows(known, ALL, null))).toBe("d c b a");
    expect(ids(loadedRows(known, folder, null))).toBe("b");
  });
});

describe("a page", () => {
  it("adds new rows and removes missing ones within its range", () => {
    const known = [row("d", 4), row("c", 3), row("b", 2), row("a", 1)];
    const page = { conversations: [row("e", 5), row("d", 4), row("b", 2)], next: "2.b" };
    expect(ids(mergePage(known, ALL, page, null))).toBe("e d b a");
  });

  it("further down leaves alone what is above it", () => {
    const known = [row("d", 4), row("c", 3), row("x", 2)];
    const page = { conversations: [row("b", 2), row("a", 1)], next: null };
    expect(ids(mergePage(known, ALL, page, "3.c"))).toBe("d c b a");
  });

  it("of one list leaves alone what is in another only", () => {
    const known = [row("o", 9, { archived: true }), row("t", 8, { temporary: true }), row("b", 2)];
    expect(ids(mergePage(known, folder, { conversations: [], next: null }, null))).toBe("o t b");
    expect(ids(mergePage(known, ALL, { conversations: [], next: null }, null))).toBe("o t");
  });

  it("has all the pinned ones when it is the first", () => {
    const known = [row("b", 2, { pinned: true }), row("a", 1, { pinned: true })];
    expect(ids(mergePage(known, ALL, { conversations: [row("b", 2, { pinned: true })], next: "1.z" }, null))).toBe("b");
    expect(ids(mergePage(known, ALL, { conversations: [], next: null }, "3.c"))).toBe("b a");
  });

  it("orders what changed at the same moment as the server does", () => {
    const page = { conversations: [row("b", 1), row("a", 1)], next: null };
    expect(ids(mergePage([row("c", 1)], { ...ALL, tag: "no" }, page, null))).toBe("c b a");
  });
});

describe("how far a list is known, when its beginning is read again", () => {
  const known = [row("d", 4), row("c", 3), row("b", 2), row("a", 1)];

  it("is as far as before when both meet", () => {
    expect(cursorAfterReload(known, ALL, { conversations: [row("e", 5), row("d", 4)], next: "4.d" }, "1.a")).toBe("1.a");
    expect(cursorAfterReload(known, ALL, { conversations: [row("e", 5), row("d", 4)], next: "4.d" }, null)).toBeNull();
  });

  it("is the page, where more came than is in it", () => {
    expect(cursorAfterReload(known, ALL, { conversations: [row("f", 6), row("d", 5)], next: "5.d" }, "1.a")).toBe("5.d");
    expect(cursorAfterReload([], ALL, { conversations: [row("d", 4)], next: "4.d" }, undefined)).toBe("4.d");
  });

  it("is all, when the page is all there is", () => {
    expect(cursorAfterReload(known, ALL, { conversations: [row("d", 4)], next: null }, "1.a")).toBeNull();
  });
});
