import { describe, expect, it } from "vitest";

import { type FolderNode, folderNodes, moveTargets, visibleNodes } from "../../../src/chat/list/folder_tree";

const folders = [
  { id: "b", name: "Books" },
  { id: "t", name: "Travel" },
  { id: "j", name: "Japan", parent: "t" },
  { id: "k", name: "Kyoto", parent: "j" },
  { id: "a", name: "Alps", parent: "t" },
];
const drawn = (nodes: readonly FolderNode[]) => nodes.map(({ folder, depth }) => "-".repeat(depth) + folder.name);

describe("folders", () => {
  it("stand above what is in them, by name", () => {
    expect(drawn(folderNodes(folders))).toEqual(["Books", "Travel", "-Alps", "-Japan", "--Kyoto"]);
  });

  it("stand at the top when their place is not known", () => {
    expect(drawn(folderNodes([{ id: "x", name: "X", parent: "gone" }]))).toEqual(["X"]);
  });

  it("are in sight when all around them are open", () => {
    const nodes = folderNodes(folders);
    expect(drawn(visibleNodes(nodes, new Set()))).toEqual(["Books", "Travel"]);
    expect(drawn(visibleNodes(nodes, new Set(["t"])))).toEqual(["Books", "Travel", "-Alps", "-Japan"]);
    expect(drawn(visibleNodes(nodes, new Set(["j", "b"])))).toEqual(["Books", "Travel"]);
  });

  it("may go anywhere but into themselves", () => {
    const nodes = folderNodes(folders);
    expect(drawn(moveTargets("t", nodes))).toEqual(["Books"]);
    expect(drawn(moveTargets("j", nodes))).toEqual(["Books", "Travel", "-Alps"]);
    expect(drawn(moveTargets("b", nodes))).toEqual(["Travel", "-Alps", "-Japan", "--Kyoto"]);
  });
});
