import { describe, expect, it } from "vitest";

import { UNLIMITED } from "../../src/usage/key_limits";
import { People } from "../../src/settings/people.svelte";
import { KeyClient } from "../../src/wire/server/keys";

function made(role = "admin") {
  const requests: { method: string; address: string; body: unknown }[] = [];
  const users = [
    { id: "u2", name: "Zoe", role: "user", created: 1, disabled: 0 },
    { id: "u1", name: "Ada", role: "admin", created: 1, disabled: 0 },
  ];
  const keys = [
    { id: "k1", user: "u1", prefix: "duo_abc", created: 1, last_used: 0, revoked: 0, limits: {} },
    { id: "k2", user: "u1", prefix: "duo_def", created: 2, last_used: 5, revoked: 0, limits: { concurrent: 2 } },
    { id: "k3", user: "u2", prefix: "duo_ghi", created: 3, last_used: 0, revoked: 9, limits: {} },
  ];
  const people = new People(
    new KeyClient(async (address, init = {}) => {
      const method = init.method ?? "GET";
      requests.push({ method, address, body: init.body === undefined ? undefined : JSON.parse(String(init.body)) });
      if (role !== "admin") return new Response('{"error":{"message":"Only an admin may.","code":"admin_needed"}}', { status: 403 });
      if (method === "GET") return new Response(JSON.stringify({ keys, users, default_limits: { ...UNLIMITED, concurrent: 4 } }));
      if (method === "POST") return new Response(JSON.stringify({ ...keys[0], key: "duo_secret", name: "Max", role: "user" }), { status: 201 });
      if (address.endsWith("/logins")) return new Response('{"ended":2}');
      return new Response(null, { status: 204 });
    }),
  );
  return { people, requests };
}

describe("people and their keys", () => {
  it("are in the order of their names, each with the keys that are valid, the newest first", async () => {
    const { people } = made();
    await people.load();
    expect(people.all.map(({ account, keys }) => [account.name, keys.map(({ id }) => id)])).toEqual([
      ["Ada", ["k2", "k1"]],
      ["Zoe", []],
    ]);
  });

  it("get a key that is shown once", async () => {
    const { people, requests } = made();
    expect(await people.create(" Max ", "user")).toBe(true);
    expect(requests[0]).toEqual({ method: "POST", address: "api/keys", body: { name: "Max", role: "user", label: "", expires: 0 } });
    expect(people.newKey?.key).toBe("duo_secret");
    people.dismissNewKey();
    expect(people.newKey).toBeNull();
  });

  it("have limits that were set, and else those of the server, which admins do not have", async () => {
    const { people, requests } = made();
    await people.load();
    expect(people.all.map(({ account, keys }) => [people.defaultsOf(account).concurrent, keys.map(({ limits }) => limits)])).toEqual([
      [0, [{ concurrent: 2 }, {}]],
      [4, []],
    ]);
    await people.limit("k1", { concurrent: null, models: [] });
    expect(requests.find(({ method }) => method === "PATCH")).toEqual({ method: "PATCH", address: "api/keys/k1", body: { concurrent: null, models: [] } });
  });

  it("get one with a label and an end", async () => {
    const { people, requests } = made();
    await people.create("Max", "user", " laptop ", 99);
    expect(requests[0]?.body).toEqual({ name: "Max", role: "user", label: "laptop", expires: 99 });
  });

  it("have a key reset, whose new secret is shown once", async () => {
    const { people, requests } = made();
    expect(await people.reset("k1")).toBe(true);
    expect(requests[0]).toEqual({ method: "POST", address: "api/keys/k1/reset", body: undefined });
    expect(people.newKey?.key).toBe("duo_secret");
  });

  it("are signed out everywhere, and renamed", async () => {
    const { people, requests } = made();
    expect(await people.signOut("Zoe B")).toBe(2);
    await people.change("Zoe", { new_name: "Zoé" });
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([
      { method: "DELETE", address: "api/keys/users/Zoe%20B/logins", body: undefined },
      { method: "PATCH", address: "api/keys/users/Zoe", body: { new_name: "Zoé" } },
    ]);
    const { people: others } = made("user");
    expect(await others.signOut("Zoe")).toBeNull();
  });

  it("lose a key, change their role and are shut out", async () => {
    const { people, requests } = made();
    await people.revoke("k1");
    await people.change("Zoe B", { disabled: true });
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([
      { method: "DELETE", address: "api/keys/k1", body: undefined },
      { method: "PATCH", address: "api/keys/users/Zoe%20B", body: { disabled: true } },
    ]);
  });

  it("are not for everybody, and the server says so", async () => {
    const { people } = made("user");
    await people.load();
    expect(people.problem).toBe("Only an admin may.");
    expect(people.loaded).toBe(false);
    expect(await people.revoke("k1")).toBe(false);
    expect(people.problem).toBe("Only an admin may.");
  });
});
