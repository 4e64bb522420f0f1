import { beforeEach, describe, expect, it } from "vitest";

import { OwnVoices } from "../../src/settings/own_voices.svelte";
import { type OwnVoice, OwnVoicesClient } from "../../src/wire/voice/own_voices";

const mine: OwnVoice = { id: "voice_1", name: "Me", duration_ms: 1500, own: true, shared: false, text: "" };

let requests: { readonly what: string; readonly body: unknown }[];
let answers: Record<string, () => Response>;
let changed: number;
let voices: OwnVoices;

beforeEach(() => {
  requests = [];
  changed = 0;
  answers = { "GET api/assets/ref_audio": () => Response.json({ ref_audios: [mine], clones: false }) };
  const fetch = async (address: string, init: RequestInit = {}) => {
    const what = `${init.method ?? "GET"} ${address}`;
    requests.push({ what, body: init.body });
    return answers[what]?.() ?? new Response('{"error":{"code":"voice_not_found","message":"No such voice."}}', { status: 404 });
  };
  voices = new OwnVoices({ client: new OwnVoicesClient(fetch), onChange: () => void changed++ });
});

describe("recorded voices", () => {
  it("are read from the server, with what its speaker can", async () => {
    expect([voices.voices, voices.clones]).toEqual([null, null]);
    await voices.refresh();
    expect([voices.voices, voices.clones]).toEqual([[mine], false]);
    expect(changed).toBe(0);
  });

  it("are sent with the wording of the consent", async () => {
    answers["POST api/assets/ref_audio"] = () => Response.json(mine, { status: 201 });
    expect(await voices.add({ name: "Me", recording: new Blob(["x"]), consent: "It is mine." })).toBe("");
    const form = requests[0]?.body as FormData;
    expect([form.get("name"), form.get("consent")]).toEqual(["Me", "It is mine."]);
    expect(form.get("file")).toBeInstanceOf(Blob);
    expect(changed).toBe(1);
  });

  it("are not there after a refusal, whose reason is returned", async () => {
    answers["POST api/assets/ref_audio"] = () => new Response('{"error":{"code":"voice_sample_silent","message":"Nothing can be heard."}}', { status: 400 });
    expect(await voices.add({ name: "Me", recording: new Blob([]), consent: "Yes." })).toBe("Nothing can be heard.");
    expect(changed).toBe(0);
  });

  it("say by voice why a command was refused, until one succeeds", async () => {
    await voices.change("voice_1", { name: "I" });
    expect([voices.refusal("voice_1"), voices.refusal("voice_2")]).toEqual(["No such voice.", ""]);
    answers["PATCH api/assets/ref_audio/voice_1"] = () => Response.json({ ...mine, name: "I" });
    await voices.change("voice_1", { name: "I" });
    expect(voices.refusal("voice_1")).toBe("");
    expect(JSON.parse(String(requests.findLast(({ what }) => what.startsWith("PATCH"))?.body))).toEqual({ name: "I" });
  });

  it("are written down by the recogniser", async () => {
    expect(await voices.transcribe("voice_1")).toBe("");
    expect(voices.refusal("voice_1")).toBe("No such voice.");
    answers["POST api/assets/ref_audio/voice_1/transcript"] = () => Response.json({ ...mine, text: "one two" });
    expect(await voices.transcribe("voice_1")).toBe("one two");
  });

  it("are deleted, and the voices to choose from are read again", async () => {
    answers["DELETE api/assets/ref_audio/voice_1"] = () => Response.json({ success: true });
    await voices.remove("voice_1");
    expect(requests.map(({ what }) => what)).toEqual(["DELETE api/assets/ref_audio/voice_1", "GET api/assets/ref_audio"]);
    expect(changed).toBe(1);
  });
});
