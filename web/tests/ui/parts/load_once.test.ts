import { expect, it } from "vitest";

import { loadOnce } from "../../../src/ui/parts/load_once";

it("loads once, and again after a failure", async () => {
  let calls = 0;
  const load = loadOnce(() => (++calls === 1 ? Promise.reject(new Error("offline")) : Promise.resolve(calls)));
  await expect(load()).rejects.toThrow("offline");
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});
