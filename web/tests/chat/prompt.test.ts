import { expect, it } from "vitest";

import { promptOf } from "../../src/chat/prompt";

it("leaves empty replies out and lets the two take turns", () => {
  const turns = [
    { role: "user", text: "a" },
    { role: "assistant", text: "" },
    { role: "user", text: "b" },
    { role: "assistant", text: "c" },
  ] as const;
  expect(promptOf(turns)).toEqual([
    { role: "user", content: "a\n\nb" },
    { role: "assistant", content: "c" },
  ]);
});
