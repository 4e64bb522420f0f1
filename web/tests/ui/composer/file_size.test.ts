import { describe, expect, it } from "vitest";

import { fileSize } from "../../../src/ui/composer/file_size";

describe("the size of a file", () => {
  it("is said as a person reads it", () => {
    expect([0, 8, 1500, 312_000, 4_210_000, 25_000_000, 3e12].map(fileSize)).toEqual(["0 byte", "8 byte", "1.5 kB", "312 kB", "4.2 MB", "25 MB", "3,000 GB"]);
  });
});
