import { describe, expect, it } from "vitest";

import { callUnavailableReason, fetchCapabilities } from "../../../src/wire/server/server";

const answering = (status: number, body: string) => () => Promise.resolve(new Response(body, { status }));

describe("the server's answers", () => {
  it("gives the value of a good one", async () => {
    expect(await fetchCapabilities(answering(200, '{"state":"ready"}'))).toEqual({ kind: "ok", value: { state: "ready" } });
  });

  it("gives the server's own sentence when a key is needed", async () => {
    const body = '{"error":{"code":"unauthorized","message":"A key is needed."}}';
    expect(await fetchCapabilities(answering(401, body))).toEqual({ kind: "unauthorized", message: "A key is needed." });
  });

  it("names the status when the answer is not ours", async () => {
    expect(await fetchCapabilities(answering(418, "<html>"))).toEqual({
      kind: "refused",
      message: "The server returned status 418.",
      code: "",
      status: 418,
    });
    expect(await fetchCapabilities(answering(200, "<html>"))).toMatchObject({ kind: "refused" });
  });

  it("treats gateway errors and missing answers as unreachable", async () => {
    expect(await fetchCapabilities(answering(502, ""))).toEqual({ kind: "unreachable" });
    expect(await fetchCapabilities(() => Promise.reject(new TypeError("failed")))).toEqual({ kind: "unreachable" });
  });
});

describe("why there is no call", () => {
  const none = { detail: "" };

  it("is what the server says of the voice, or of the engine that failed", () => {
    expect(callUnavailableReason({ state: "loading", detail: "The voice is loading." })).toBe("The voice is loading.");
    expect(callUnavailableReason({ state: "ready", detail: "", detector: none, recogniser: { detail: "No such model." }, speaker: none })).toBe("No such model.");
  });

  it("is the page's own sentence where there never was one", () => {
    expect(callUnavailableReason({ state: "absent", detail: "This server has no voice." })).toBe("");
    expect(callUnavailableReason(undefined)).toBe("");
  });
});
