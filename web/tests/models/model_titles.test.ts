import { expect, test } from "vitest";

import { modelTitle } from "../../src/models/model_titles";

const small = { name: "qwen3-4b", title: "Qwen3 4B" };

test("a model has its title", () => {
  expect(modelTitle("qwen3-4b", { models: [small] })).toBe("Qwen3 4B");
});

test("a model that is not loaded has the title by which it is known", () => {
  expect(modelTitle("qwen3-4b", { models: [], titles: { "qwen3-4b": "Qwen3 4B" } })).toBe("Qwen3 4B");
});

test("an alias, such as the name of its file, has the title of its model", () => {
  expect(modelTitle("Qwen3-4B-Q4_K_M", { models: [small], aliases: { "Qwen3-4B-Q4_K_M": "qwen3-4b" } })).toBe("Qwen3 4B");
});

test("a name that nobody knows is shown as it is, whatever it is called", () => {
  for (const name of ["my-own", "constructor", ""]) expect(modelTitle(name, { models: [small], titles: {} })).toBe(name);
});

test("two models with one title are told apart by their names", () => {
  const models = [small, { name: "box/qwen3-4b", title: "Qwen3 4B" }];
  expect(models.map(({ name }) => modelTitle(name, { models }))).toEqual(["Qwen3 4B (qwen3-4b)", "Qwen3 4B (box/qwen3-4b)"]);
});
