import { describe, expect, it } from "vitest";

import { prettyJson } from "../../../src/ui/tools/pretty_json";

describe("JSON to be read", () => {
  it("has a line for each part", () => {
    expect(prettyJson('{"city":"Lisbon"}')).toBe('{\n  "city": "Lisbon"\n}');
  });

  it("is left as it is while it is being written, and where it is none", () => {
    for (const text of ['{"city":"Lis', "", "rain", "12", '"x"']) expect(prettyJson(text)).toBe(text);
  });
});
