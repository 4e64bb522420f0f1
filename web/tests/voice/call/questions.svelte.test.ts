import { expect, it } from "vitest";

import { Questions } from "../../../src/voice/call/questions.svelte";

it("has the oldest open question first, each once, until it is answered", () => {
  const questions = new Questions();
  const [one, two] = ["1", "2"].map((id) => ({ id, run: "", conversation: "c" }));
  questions.asked(one!);
  questions.asked(two!);
  questions.asked(one!);
  expect(questions.current).toBe(two);
  questions.answered("2");
  expect(questions.current).toBe(one);
  questions.clear();
  expect(questions.current).toBe(null);
});
