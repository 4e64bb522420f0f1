import { describe, expect, it } from "vitest";

import { isLoopback, joinCommand } from "../../src/admin/join_command";

describe("the command with which a worker joins", () => {
  it("has the server's address, and the key where other users of the machine cannot see it", () => {
    expect(joinCommand({ base: "https://talk.example/ai/", key: "sk-1", fingerprint: "" })).toBe("DUOLOGUE_JOIN_KEY=sk-1 duologue worker --join https://talk.example/ai");
  });

  it("has the fingerprint of a certificate of the server's own", () => {
    expect(joinCommand({ base: "https://10.0.0.2:8006/", key: "k", fingerprint: "ab12" })).toBe("DUOLOGUE_JOIN_KEY=k duologue worker --join https://10.0.0.2:8006 --fingerprint ab12");
  });

  it("says where nothing is encrypted, which the worker refuses otherwise", () => {
    expect(joinCommand({ base: "http://10.0.0.2:8006/", key: "k", fingerprint: "" })).toContain("--insecure-http");
    expect(joinCommand({ base: "http://127.0.0.1:8006/", key: "k", fingerprint: "" })).not.toContain("--insecure-http");
  });

  it("has no fingerprint for an address without TLS", () => {
    expect(joinCommand({ base: "http://10.0.0.2:8006/", key: "k", fingerprint: "ab12" })).not.toContain("--fingerprint");
  });

  it("knows addresses that other machines cannot reach", () => {
    expect(["localhost", "127.0.0.1", "[::1]", "10.0.0.2", "box"].map(isLoopback)).toEqual([true, true, true, false, false]);
  });
});
