import { expect, it } from "vitest";

import { fetchStorageUse } from "../../../src/wire/server/storage_use";

it("asks the server how much the files take", async () => {
  const use = { used: 5, limit: 100, temporary_used: 0, temporary_limit: 10 };
  const asked: string[] = [];
  const answer = await fetchStorageUse((address) => {
    asked.push(String(address));
    return Promise.resolve(new Response(JSON.stringify(use)));
  });
  expect(answer).toEqual({ kind: "ok", value: use });
  expect(asked).toEqual(["api/storage"]);
});
