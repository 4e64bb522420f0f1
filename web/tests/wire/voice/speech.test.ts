import { describe, expect, it } from "vitest";

import { synthesise, transcribe } from "../../../src/wire/voice/speech";

const signal = new AbortController().signal;
const EVENTS = { "Content-Type": "text/event-stream; charset=utf-8" };

function answering(response: () => Response) {
  const requests: { address: string; init: RequestInit }[] = [];
  return { requests, fetch: async (address: string, init: RequestInit = {}) => (requests.push({ address, init }), response()) };
}

describe("speech over HTTP", () => {
  it("sends a recording as a file, and gives what was said", async () => {
    const { requests, fetch } = answering(() => new Response('{"text":"hello"}'));
    expect(await transcribe(fetch, Uint8Array.of(1, 2), "de", signal)).toEqual({ kind: "ok", value: { text: "hello" } });
    const form = requests[0]!.init.body as FormData;
    expect([requests[0]!.address, form.get("language"), (form.get("file") as File).type, (form.get("file") as File).size]).toEqual(["v1/audio/transcriptions", "de", "audio/wav", 2]);
  });

  it("speaks with the server's voice where the chosen one went with its voice pack", async () => {
    const voices: unknown[] = [];
    const fetch = async (_address: string, init: RequestInit = {}) => {
      const { voice } = JSON.parse(init.body as string) as { voice: string };
      voices.push(voice);
      return voice === "anna" ? new Response('{"error":{"message":"No such voice.","code":"voice_not_found"}}', { status: 404 }) : new Response("sound");
    };
    const replaced: string[] = [];
    expect(await synthesise(fetch, { text: "Hi", voice: "anna", speed: 1 }, signal, { onReplaced: (voice) => void replaced.push(voice) })).toMatchObject({ kind: "ok" });
    expect(voices).toEqual(["anna", "default"]);
    expect(replaced).toEqual(["anna"]);
  });

  it("takes the page's language for a guess, and leaves it out where the recogniser does not know it", async () => {
    const languages: unknown[] = [];
    const fetch = async (_address: string, init: RequestInit = {}) => {
      const language = (init.body as FormData).get("language");
      languages.push(language);
      return language === "fr" ? new Response('{"error":{"message":"understands en.","param":"language"}}', { status: 400 }) : new Response('{"text":"hello"}');
    };
    for (let time = 0; time < 2; time++) expect(await transcribe(fetch, Uint8Array.of(1, 2), "fr", signal)).toEqual({ kind: "ok", value: { text: "hello" } });
    expect(languages).toEqual(["fr", null, null]);
  });

  it("asks for samples as they are made", async () => {
    const { requests, fetch } = answering(() => new Response(Uint8Array.of(1, 2)));
    const answer = await synthesise(fetch, { text: "Hi", voice: "", speed: 1.5 }, signal);
    expect(answer.kind).toBe("ok");
    expect(JSON.parse(requests[0]!.init.body as string)).toEqual({ model: "default", input: "Hi", voice: "default", response_format: "pcm", speed: 1.5 });
  });

  it("asks for the mouth where somebody draws it, and gives the sound without the events", async () => {
    const events = 'data: {"type":"speech.audio.delta","audio":"AQI=","mouth":[[0,10,0,0,0,0]]}\n\n: speaking\n\ndata: {"type":"speech.audio.delta","audio":"AwQ="}\n\ndata: {"type":"speech.audio.done"}\n\n';
    const { requests, fetch } = answering(() => new Response(events, { headers: EVENTS }));
    const keys: unknown[] = [];
    const answer = await synthesise(fetch, { text: "Hi", voice: "", speed: 1 }, signal, { onMouth: (more) => void keys.push(...more) });
    if (answer.kind !== "ok") throw new Error(answer.kind);
    expect(new Uint8Array(await new Response(answer.value).arrayBuffer())).toEqual(Uint8Array.of(1, 2, 3, 4));
    expect(keys).toEqual([[0, 10, 0, 0, 0, 0]]);
    expect(JSON.parse(requests[0]!.init.body as string)).toMatchObject({ response_format: "pcm", stream_format: "sse", mouth: true });
  });

  it("fails where the events end before the speech", async () => {
    const { fetch } = answering(() => new Response('data: {"type":"speech.audio.delta","audio":"AQI="}\n\n', { headers: EVENTS }));
    const answer = await synthesise(fetch, { text: "Hi", voice: "", speed: 1 }, signal, { onMouth: () => {} });
    if (answer.kind !== "ok") throw new Error(answer.kind);
    await expect(new Response(answer.value).arrayBuffer()).rejects.toThrow("broke off");
  });

  it("reports a refusal and an unreachable server", async () => {
    const refused = answering(() => new Response('{"error":{"code":"voice_unavailable","message":"No voice."}}', { status: 503 }));
    expect(await synthesise(refused.fetch, { text: "Hi", voice: "v", speed: 1 }, signal)).toMatchObject({ kind: "refused", message: "No voice.", code: "voice_unavailable" });
    const gone = async () => Promise.reject(new TypeError("failed"));
    expect(await synthesise(gone, { text: "Hi", voice: "v", speed: 1 }, signal)).toEqual({ kind: "unreachable" });
  });
});
