import { describe, expect, it } from "vitest";

import { chatAddress, fetchCapabilities } from "../../src/wire/server";

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
      message: "The server answered with status 418.",
    });
    expect(await fetchCapabilities(answering(200, "<html>"))).toMatchObject({ kind: "refused" });
  });

  it("takes a proxy that finds nobody, and no answer at all, for unreachable", async () => {
    expect(await fetchCapabilities(answering(502, ""))).toEqual({ kind: "unreachable" });
    expect(await fetchCapabilities(() => Promise.reject(new TypeError("failed")))).toEqual({ kind: "unreachable" });
  });
});

describe("the chat socket's address", () => {
  it("stands beside the page, under any base path", () => {
    expect(chatAddress("http://localhost:8006/")).toBe("ws://localhost:8006/ws/chat");
    expect(chatAddress("https://example.org/talk/?a=b#c")).toBe("wss://example.org/talk/ws/chat");
  });
});
