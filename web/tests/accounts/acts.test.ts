// Every act that the server names has words, so that no raw name is shown.
import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { accounts } from "../../src/language/en/settings/accounts";

it("has words for every act of the server", () => {
  const source = readFileSync(new URL("../../../src/duologue/gateway/audit/acts.py", import.meta.url), "utf8");
  const acts = [...source.matchAll(/Act\(\s*"([a-z_]+\.[a-z_]+)"/g)].map(([, act]) => act as string);
  expect(acts.length).toBeGreaterThan(30);
  expect(acts.filter((act) => !(act in accounts().acts))).toEqual([]);
});
