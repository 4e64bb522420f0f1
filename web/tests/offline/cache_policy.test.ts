import { describe, expect, it } from "vitest";

import { cacheName, fileAt, isUpstreamDown, outdatedCaches, policyFor, type RequestInfo } from "../../src/offline/cache_policy";

const SCOPE = "https://chat.example/talk/";
const FILES = new Set(["index.html", "theme.js", "mark.svg", "assets/index-1a2b.js", "assets/KaTeX-3c4d.woff2"]);

function policy(path: string, request: Partial<RequestInfo> = {}) {
  return policyFor({ method: "GET", mode: "cors", destination: "", url: SCOPE + path, ...request }, SCOPE, FILES);
}

const visit = { mode: "navigate", destination: "document" };

describe("how a request is answered", () => {
  it.each(["", "index.html", "?source=home", "#/c/17"])("shows the page fresh, or else the one that was kept: %j", (path) => {
    expect(policy(path, visit)).toBe("network-first");
  });

  it.each(["assets/index-1a2b.js", "assets/KaTeX-3c4d.woff2"])("takes what is named by its content from what was kept: %s", (path) => {
    expect(policy(path, { destination: "script" })).toBe("cache-first");
  });

  it.each(["theme.js", "mark.svg"])("uses the network first for other files: %s", (path) => {
    expect(policy(path)).toBe("network-first");
  });

  it.each(["api/capabilities", "api/blobs/1a", "api/events", "v1/models", "ws/chat", "docs", "docs/docs.js", "openapi.json", "health", "sw.js", "preview.html", "preview/mermaid.js", "assets/gone-1.js", "licenses.txt"])(
    "leaves alone what is not the page: %s",
    (path) => {
      expect(policy(path)).toBe("bypass");
      expect(policy(path, visit)).toBe("bypass");
    },
  );

  it.each(["POST", "PUT", "PATCH", "DELETE", "HEAD"])("leaves every other method alone: %s", (method) => {
    expect(policy("", { ...visit, method })).toBe("bypass");
    expect(policy("assets/index-1a2b.js", { method })).toBe("bypass");
  });

  it("leaves frames, downloads and the page as a file alone", () => {
    expect(policy("", { mode: "navigate", destination: "iframe" })).toBe("bypass");
    expect(policy("index.html")).toBe("bypass");
    expect(policy("assets/index-1a2b.js", visit)).toBe("bypass");
  });

  it.each(["https://chat.example/", "https://chat.example/talkative/assets/index-1a2b.js", "https://cdn.example/talk/assets/index-1a2b.js", "https://chat.example/talk"])(
    "leaves other places alone: %s",
    (url) => {
      expect(policy("", { ...visit, url })).toBe("bypass");
    },
  );
});

it("finds the file of an address", () => {
  expect(fileAt(`${SCOPE}?a#b`, SCOPE)).toBe("index.html");
  expect(fileAt(`${SCOPE}theme.js?a`, SCOPE)).toBe("theme.js");
  expect(fileAt("https://chat.example/", SCOPE)).toBeNull();
});

it("counts gateway errors as a server that is down, and no other status", () => {
  expect([502, 503, 504].every(isUpstreamDown)).toBe(true);
  expect([200, 304, 401, 404, 500].some(isUpstreamDown)).toBe(false);
});

it("deletes caches of earlier builds of this server only", () => {
  const mine = cacheName(SCOPE, "new");
  const stores = [mine, cacheName(SCOPE, "old"), cacheName("https://chat.example/", "old"), cacheName(`${SCOPE}more/`, "old"), "somebody's"];
  expect(outdatedCaches(stores, SCOPE, "new")).toEqual([cacheName(SCOPE, "old")]);
});
