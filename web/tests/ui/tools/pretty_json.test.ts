import { describe, expect, it } from "vitest";

import { prettyJson } from "../../../src/ui/tools/pretty_json";

describe("JSON to be read", () => {
  it("has a line for each part", () => {
    expect(prettyJson('{"city":"Lisbon"}')).toBe('{\n  "city": "Lisbon"\n}');
  });

  it("is left unchanged while incomplete, or if it is not JSON", () => {
    for (const text of ['{"city":"Lis', "", "rain", "12", '"x"']) expect(prettyJson(text)).toBe(text);
  });
});
