import { expect, it } from "vitest";

import { PendingApprovals } from "../../../src/voice/call/pending_approvals.svelte";

it("has the oldest open question first, each once, until it is answered", () => {
  const questions = new PendingApprovals();
  const [one, two] = ["1", "2"].map((id) => ({ id, run: "", conversation: "c" }));
  questions.add(one!);
  questions.add(two!);
  questions.add(one!);
  expect(questions.current).toBe(two);
  questions.remove("2");
  expect(questions.current).toBe(one);
  questions.clear();
  expect(questions.current).toBe(null);
});
