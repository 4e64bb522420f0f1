import { describe, expect, it } from "vitest";

import { placesFor, type Shelf, shelvesOf, visible } from "../../../src/chat/list/shelves";

const folders = [
  { id: "b", name: "Books" },
  { id: "t", name: "Travel" },
  { id: "j", name: "Japan", parent: "t" },
  { id: "k", name: "Kyoto", parent: "j" },
  { id: "a", name: "Alps", parent: "t" },
];
const drawn = (shelves: readonly Shelf[]) => shelves.map(({ folder, depth }) => "-".repeat(depth) + folder.name);

describe("folders", () => {
  it("stand above what is in them, by name", () => {
    expect(drawn(shelvesOf(folders))).toEqual(["Books", "Travel", "-Alps", "-Japan", "--Kyoto"]);
  });

  it("stand at the top when their place is not known", () => {
    expect(drawn(shelvesOf([{ id: "x", name: "X", parent: "gone" }]))).toEqual(["X"]);
  });

  it("are in sight when all around them are open", () => {
    const shelves = shelvesOf(folders);
    expect(drawn(visible(shelves, new Set()))).toEqual(["Books", "Travel"]);
    expect(drawn(visible(shelves, new Set(["t"])))).toEqual(["Books", "Travel", "-Alps", "-Japan"]);
    expect(drawn(visible(shelves, new Set(["j", "b"])))).toEqual(["Books", "Travel"]);
  });

  it("may go anywhere but into themselves", () => {
    const shelves = shelvesOf(folders);
    expect(drawn(placesFor("t", shelves))).toEqual(["Books"]);
    expect(drawn(placesFor("j", shelves))).toEqual(["Books", "Travel", "-Alps"]);
    expect(drawn(placesFor("b", shelves))).toEqual(["Travel", "-Alps", "-Japan", "--Kyoto"]);
  });
});
