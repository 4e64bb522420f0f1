import { describe, expect, it } from "vitest";

import { timestampText } from "../../src/settings/timestamps";

describe("a moment", () => {
  const noon = new Date(2026, 4, 3, 12, 5).getTime();

  it("is a time where it is today", () => {
    expect(timestampText(noon, noon + 3600_000, "en")).toBe("12:05");
    expect(timestampText(noon, noon + 3600_000, "de")).toBe("12:05");
  });

  it("is a day where it is not", () => {
    expect(timestampText(noon, noon + 86_400_000, "en")).toBe("3 May 2026");
    expect(timestampText(noon, noon + 86_400_000, "de")).toBe("3. Mai 2026");
  });
});
