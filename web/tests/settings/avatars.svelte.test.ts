import { beforeEach, describe, expect, it } from "vitest";

import { Avatars } from "../../src/settings/avatars.svelte";
import { type Avatar, AvatarClient } from "../../src/wire/voice/avatars";

const mine: Avatar = { id: "avatar_1", name: "Me", kind: "picture", own: true, shared: false, ready: false };
const drawn: Avatar = { id: "ada", name: "Ada", kind: "drawn", own: false, shared: true, ready: true };

let requests: { readonly what: string; readonly body: unknown }[];
let answers: Record<string, () => Response>;
let changed: number;
let client: AvatarClient;
let avatars: Avatars;

beforeEach(() => {
  requests = [];
  changed = 0;
  answers = { "GET api/avatars": () => Response.json({ avatars: [drawn, mine] }) };
  const fetch = async (address: string, init: RequestInit = {}) => {
    const what = `${init.method ?? "GET"} ${address}`;
    requests.push({ what, body: init.body });
    return answers[what]?.() ?? new Response('{"error":{"code":"avatar_not_found","message":"No such face."}}', { status: 404 });
  };
  client = new AvatarClient(fetch);
  avatars = new Avatars({ client, onChange: () => void changed++ });
});

describe("brought faces", () => {
  it("are those of the server that are not drawn", async () => {
    expect(avatars.brought).toBeNull();
    await avatars.refresh();
    expect(avatars.brought).toEqual([mine]);
  });

  it("are sent with the wording of the consent", async () => {
    answers["POST api/avatars"] = () => Response.json(mine, { status: 201 });
    expect(await avatars.add({ name: "Me", file: new Blob(["x"]), consent: "It is me." })).toEqual(mine);
    const form = requests[0]?.body as FormData;
    expect([form.get("name"), form.get("consent")]).toEqual(["Me", "It is me."]);
    expect(changed).toBe(1);
  });

  it("are not there after a refusal, whose reason is returned", async () => {
    answers["POST api/avatars"] = () => new Response('{"error":{"code":"avatar_without_mouth","message":"It has no mouth."}}', { status: 400 });
    expect(await avatars.add({ name: "Me", file: new Blob([]), consent: "" })).toBe("It has no mouth.");
    expect(changed).toBe(0);
  });

  it("say by face why a command was refused, until one succeeds", async () => {
    expect(await avatars.change("avatar_1", { name: "I" })).toBe(false);
    expect([avatars.refusal("avatar_1"), avatars.refusal("avatar_2")]).toEqual(["No such face.", ""]);
    answers["PUT api/avatars/avatar_1"] = () => Response.json(mine);
    expect(await avatars.change("avatar_1", { shared: true })).toBe(true);
    expect(avatars.refusal("avatar_1")).toBe("");
  });

  it("are deleted, and the list is read again", async () => {
    answers["DELETE api/avatars/avatar_1"] = () => Response.json({});
    await avatars.remove("avatar_1");
    expect(requests.map(({ what }) => what)).toEqual(["DELETE api/avatars/avatar_1", "GET api/avatars"]);
  });

  it("are read as bytes, or as nothing where the server refuses", async () => {
    answers["GET api/avatars/avatar_1/file"] = () => new Response(new Uint8Array([1, 2]));
    const signal = new AbortController().signal;
    expect(new Uint8Array((await client.file("avatar_1", signal))!)).toEqual(new Uint8Array([1, 2]));
    expect(await client.file("avatar_2", signal)).toBeNull();
  });
});
