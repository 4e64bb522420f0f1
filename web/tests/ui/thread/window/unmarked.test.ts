import { describe, expect, it } from "vitest";

import { unmarked } from "../../../../src/ui/thread/window/unmarked";

describe("a text without its marks", () => {
  it("reads as it would be drawn", () => {
    const text = "## Tea\n\nIt needs **three things**, *patience* and `time`, see [the guide](https://example.org).\n\n- water\n  - hot";
    expect(unmarked(text)).toBe("Tea\n\nIt needs three things, patience and time, see the guide.\n\n• water\n  • hot");
  });

  it("keeps code, without its fence", () => {
    expect(unmarked("```python\nprint(2 * 3 * 4)\n```")).toBe("print(2 * 3 * 4)");
  });

  it("leaves out the rule of a table", () => {
    expect(unmarked("| Tea | Minutes |\n|---|--:|\n| Sencha | 1.5 |")).toBe("| Tea | Minutes |\n| Sencha | 1.5 |");
  });

  it("ends soon on hostile text", () => {
    const began = performance.now();
    unmarked("*".repeat(20_000) + "[".repeat(20_000) + "|---".repeat(5000) + "`".repeat(20_000));
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
