import { describe, expect, it } from "vitest";

import { setLanguage } from "../../../src/language/language.svelte";
import { problemOf, request, sendJson } from "../../../src/wire/transport/http";

const answering = (status: number, body: string | null) => () => Promise.resolve(new Response(body, { status }));

describe("an answer", () => {
  it("is its value, or null for an empty body", async () => {
    expect(await request(answering(200, '{"a":1}'), "x")).toEqual({ kind: "ok", value: { a: 1 } });
    expect(await request(answering(204, null), "x")).toEqual({ kind: "ok", value: null });
  });

  it("is the server's own sentence when it refuses", async () => {
    const body = '{"error":{"code":"run_in_progress","message":"A reply is being written."}}';
    const answer = await request(answering(409, body), "x");
    expect(answer).toEqual({ kind: "refused", status: 409, code: "run_in_progress", message: "A reply is being written." });
    expect(problemOf(answer)).toBe("A reply is being written.");
  });

  it("is the page's sentence for what is common, with the server's own where that names what it is about", async () => {
    const told = (code: string, message: string) => problemOf({ kind: "refused", status: 400, code, message });
    await setLanguage("de");
    expect(told("run_in_progress", "A reply is being written.")).toContain("Hier wird gerade eine Antwort geschrieben.");
    expect(told("model_not_found", "There is no model x.")).toBe("Dieses Modell gibt es hier nicht. Meldung des Servers: There is no model x.");
    expect(told("something_rare", "As it is.")).toBe("As it is.");
    await setLanguage("en");
    expect(told("run_in_progress", "A reply is being written.")).toBe("A reply is being written.");
  });

  it("is a sentence also if the server is unreachable", async () => {
    for (const fetch of [answering(502, ""), () => Promise.reject(new TypeError("failed"))]) {
      const answer = await request(fetch, "x");
      expect(answer).toEqual({ kind: "unreachable" });
      expect(problemOf(answer)).toContain("isn’t responding");
    }
  });
});

describe("a command", () => {
  it("carries its body as JSON", async () => {
    let sent: RequestInit | undefined;
    await sendJson((_, init) => ((sent = init), Promise.resolve(new Response("{}"))), "PUT", "x", { a: 1 });
    expect(sent).toMatchObject({ method: "PUT", body: '{"a":1}', headers: { "Content-Type": "application/json" } });
  });
});
