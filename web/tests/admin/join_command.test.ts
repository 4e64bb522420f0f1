import { describe, expect, it } from "vitest";

import { isLoopback, joinCommand, MACHINE_NAME } from "../../src/admin/join_command";

describe("the command with which a worker joins", () => {
  it("has the server's address, the machine's name, and the key where other users of the machine cannot see it", () => {
    expect(joinCommand({ machine: "box", base: "https://talk.example/ai/", key: "sk-1", fingerprint: "" })).toBe("DUOLOGUE_JOIN_KEY=sk-1 duologue worker --join https://talk.example/ai --machine box");
  });

  it("has the fingerprint of a certificate of the server's own", () => {
    expect(joinCommand({ machine: "box", base: "https://10.0.0.2:8006/", key: "k", fingerprint: "ab12" })).toBe("DUOLOGUE_JOIN_KEY=k duologue worker --join https://10.0.0.2:8006 --machine box --fingerprint ab12");
  });

  it("says where nothing is encrypted, which the worker refuses otherwise", () => {
    expect(joinCommand({ machine: "box", base: "http://10.0.0.2:8006/", key: "k", fingerprint: "" })).toContain("--insecure-http");
    expect(joinCommand({ machine: "box", base: "http://127.0.0.1:8006/", key: "k", fingerprint: "" })).not.toContain("--insecure-http");
  });

  it("has no fingerprint for an address without TLS", () => {
    expect(joinCommand({ machine: "box", base: "http://10.0.0.2:8006/", key: "k", fingerprint: "ab12" })).not.toContain("--fingerprint");
  });

  it("knows addresses that other machines cannot reach", () => {
    expect(["localhost", "127.0.0.1", "[::1]", "10.0.0.2", "box"].map(isLoopback)).toEqual([true, true, true, false, false]);
  });

  it("names the machine only as the server allows it", () => {
    // A browser compiles the pattern of a field with this flag.
    const allowed = new RegExp(`^(?:${MACHINE_NAME})$`, "v");
    expect(["box-7", "attic.example.org", "A_1"].every((name) => allowed.test(name))).toBe(true);
    expect(["", "two words", "-box", "Küche", "$(id)", "x".repeat(65)].some((name) => allowed.test(name))).toBe(false);
  });
});
