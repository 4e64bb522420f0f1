import { describe, expect, it } from "vitest";

import { webAddress } from "../../../src/wire/transport/address";

describe("an address to be sent to", () => {
  it("is one of the web", () => {
    expect(webAddress("https://example.org/login?state=1")).toBe("https://example.org/login?state=1");
    for (const address of ["javascript:alert(1)", "data:text/html,x", "", "//example.org", "https://"]) expect(webAddress(address)).toBeNull();
  });
});
