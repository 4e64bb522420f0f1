import { describe, expect, it } from "vitest";

import { modelLines } from "../../src/admin/model_lines";

describe("figures by model", () => {
  it("are a line for each figure of each model, the busiest model first", () => {
    const lines = modelLines([
      { at: 5, models: [{ model: "small", requests: 1, first_token: 20, reply_tokens_per_second: null }] },
      { at: 10 },
      { at: 15, models: [{ model: "large", requests: 4, first_token: 90, queue_wait: 3 }, { model: "small", requests: 2, first_token: 30 }] },
    ]);
    expect(lines.map(({ model, requests }) => [model, requests])).toEqual([["large", 4], ["small", 3]]);
    expect(lines[1]?.firstToken).toEqual([{ at: 5, value: 20 }, { at: 15, value: 30 }]);
    expect(lines[1]?.speed).toEqual([{ at: 5, value: null }, { at: 15, value: null }]);
    expect(lines[0]?.queueWait).toEqual([{ at: 15, value: 3 }]);
  });

  it("are none of a server that does not tell its models apart", () => {
    expect(modelLines([{ at: 5, requests: 3 }])).toEqual([]);
  });
});
