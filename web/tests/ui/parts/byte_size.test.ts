import { describe, expect, it } from "vitest";

import { byteSize, modelSize } from "../../../src/ui/parts/byte_size";

describe("the size of a file", () => {
  it("uses the largest fitting unit", () => {
    expect([0, 1, 8, 15, 1500, 312_000, 4_210_000, 25_000_000, 3e12].map((bytes) => byteSize(bytes))).toEqual(["0 bytes", "1 byte", "8 bytes", "15 bytes", "1.5 kB", "312 kB", "4.2 MB", "25 MB", "3,000 GB"]);
  });

  it("of a model is never below megabytes", () => {
    expect([0, 312_000, 4_210_000, 4_683_000_000].map(modelSize)).toEqual(["0 MB", "0.3 MB", "4.2 MB", "4.7 GB"]);
  });
});
