import { describe, expect, it } from "vitest";

import { Logins } from "../../src/accounts/logins.svelte";
import { LoginClient } from "../../src/wire/server/logins";

function made() {
  const requests: string[] = [];
  let rows = [
    { id: "a", user: "u1", name: "Ada", created: 1, expires: 9, last_seen: 5, address: "10.0.0.1", agent: "Firefox, Linux", current: false },
    { id: "b", user: "u1", name: "Ada", created: 1, expires: 9, last_seen: 4, address: "", agent: "", current: true },
  ];
  const logins = new Logins(
    new LoginClient(async (address, init = {}) => {
      const method = init.method ?? "GET";
      requests.push(`${method} ${address}`);
      if (method === "GET") return new Response(JSON.stringify({ logins: rows }));
      if (address.endsWith("/gone")) return new Response('{"error":{"message":"There is none.","code":"not_found"}}', { status: 404 });
      rows = rows.filter(({ current }) => current);
      return new Response(address.endsWith("logins") ? '{"ended":1}' : null, { status: address.endsWith("logins") ? 200 : 204 });
    }),
  );
  return { logins, requests };
}

describe("signed-in browsers", () => {
  it("have this one first", async () => {
    const { logins } = made();
    await logins.load();
    expect(logins.all.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(logins.loaded).toBe(true);
  });

  it("are those of everyone for an admin who asks", async () => {
    const { logins, requests } = made();
    await logins.show(true);
    await logins.show(false);
    expect(requests).toEqual(["GET api/session/logins?everyone=true", "GET api/session/logins"]);
  });

  it("are signed out one by one, or all but this", async () => {
    const { logins, requests } = made();
    expect(await logins.end("a b")).toBe(true);
    expect(await logins.endOthers()).toBe(true);
    expect(logins.all.map(({ id }) => id)).toEqual(["b"]);
    expect(requests.filter((line) => line.startsWith("DELETE"))).toEqual(["DELETE api/session/logins/a%20b", "DELETE api/session/logins"]);
  });

  it("say why one could not be signed out", async () => {
    const { logins } = made();
    expect(await logins.end("gone")).toBe(false);
    expect(logins.problem).toBe("There is none.");
    expect(logins.busy).toBe(false);
  });
});
