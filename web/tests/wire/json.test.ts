import { describe, expect, it } from "vitest";

import { isObject, parseEvent } from "../../src/wire/json";

describe("an event", () => {
  const TYPES = new Set(["known"]);

  it("is read where its type is known", () => {
    expect(parseEvent('{"type":"known","value":1}', TYPES)).toEqual({ type: "known", value: 1 });
  });

  it.each(['{"type":"other"}', "{}", "[]", "null", "1", "{"])("is rejected: %s", (data) => {
    expect(parseEvent(data, TYPES)).toBeNull();
  });
});

it("tells objects from arrays and null", () => {
  expect([{}, [], null, 1, "a"].map(isObject)).toEqual([true, false, false, false, false]);
});
