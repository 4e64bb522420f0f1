import { describe, expect, it } from "vitest";

import { childrenOf, choose, path, prune } from "../../src/chat/tree";

//  a ── b ── c
//   └── d ── e
//  f
const nodes = [
  { id: "a", parent: null },
  { id: "b", parent: "a" },
  { id: "c", parent: "b" },
  { id: "d", parent: "a" },
  { id: "e", parent: "d" },
  { id: "f", parent: null },
];
const ids = (shown: { id: string }[]) => shown.map(({ id }) => id).join("");

describe("a conversation's tree", () => {
  it("shows the newest where nothing was chosen", () => {
    expect(ids(path(nodes, {}))).toBe("f");
    expect(ids(path(nodes, { "": "a" }))).toBe("ade");
  });

  it("shows what was chosen", () => {
    const choice = choose(choose({}, nodes[0]!), nodes[1]!);
    expect(ids(path(nodes, choice))).toBe("abc");
  });

  it("falls back to the newest when what was chosen is gone", () => {
    expect(ids(path(nodes, { "": "a", a: "x" }))).toBe("ade");
  });

  it("finds the alternatives of a turn, oldest first", () => {
    expect(ids(childrenOf(nodes, "a"))).toBe("bd");
    expect(ids(childrenOf(nodes, null))).toBe("af");
  });

  it("loses a turn with everything below it, and nothing else", () => {
    expect(ids(prune(nodes, nodes[1]!))).toBe("adef");
    expect(ids(prune(nodes, nodes[0]!))).toBe("f");
  });
});
