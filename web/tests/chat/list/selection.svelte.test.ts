import { expect, it } from "vitest";

import { Selection } from "../../../src/chat/list/selection.svelte";

const shown = ["a", "b", "c", "d", "e"];
const chosen = (selection: Selection) => [...selection.ids].sort().join("");

it("takes one in and out", () => {
  const selection = new Selection();
  selection.toggle("b");
  expect([selection.has("b"), selection.count]).toEqual([true, 1]);
  selection.toggle("b");
  expect(selection.count).toBe(0);
});

it("takes all from the last one on, in either direction, in and out", () => {
  const selection = new Selection();
  selection.toggle("d");
  selection.toggle("b", true, shown);
  expect(chosen(selection)).toBe("bcd");
  selection.toggle("d", true, shown);
  expect(chosen(selection)).toBe("");
});

it("selects only one if there is no anchor", () => {
  const selection = new Selection();
  selection.toggle("c", true, shown);
  expect(chosen(selection)).toBe("c");
});

it("removes deleted ones", () => {
  const selection = new Selection();
  selection.set(shown);
  selection.remove(new Set(["a", "e"]));
  expect(chosen(selection)).toBe("bcd");
});
