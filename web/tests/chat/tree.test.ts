import { describe, expect, it } from "vitest";

import { Tree } from "../../src/chat/tree";

const node = (id: string, parent: string | null, sequence: number) => ({ id, parent, sequence });

//  a ─ b ─ d
//    └ c ─ e
//        └ f
const tree = new Tree([node("a", null, 1), node("b", "a", 2), node("c", "a", 3), node("d", "b", 6), node("e", "c", 4), node("f", "c", 5)]);

const ids = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => id).join("");

describe("the tree", () => {
  it("gives the path to a leaf", () => {
    expect(ids(tree.path("e"))).toBe("ace");
    expect(ids(tree.path(null))).toBe("");
    expect(ids(tree.path("x"))).toBe("");
  });

  it("orders siblings by when they came, whatever the order they are given in", () => {
    const mixed = new Tree([node("late", null, 9), node("early", null, 1)]);
    expect(ids(mixed.siblings(mixed.get("late")!))).toBe("earlylate");
  });

  it("finds the end of the branch that was written last", () => {
    expect(tree.newestLeaf("a")).toBe("d");
    expect(tree.newestLeaf("c")).toBe("f");
    expect(tree.newestLeaf("e")).toBe("e");
  });

  it("gives nothing for a ring, and does not hang", () => {
    expect(new Tree([node("a", "b", 1), node("b", "a", 2)]).path("a")).toEqual([]);
  });
});
