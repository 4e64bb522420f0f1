import { describe, expect, it } from "vitest";

import { type Asked, fileAt, formerStores, isGone, storeOf, wayOf } from "../../src/offline/answering";

const SCOPE = "https://chat.example/talk/";
const FILES = new Set(["index.html", "theme.js", "mark.svg", "assets/index-1a2b.js", "assets/KaTeX-3c4d.woff2"]);

function way(path: string, asked: Partial<Asked> = {}) {
  return wayOf({ method: "GET", mode: "cors", destination: "", url: SCOPE + path, ...asked }, SCOPE, FILES);
}

const visit = { mode: "navigate", destination: "document" };

describe("how a request is answered", () => {
  it.each(["", "index.html", "?source=home", "#/c/17"])("shows the page fresh, or else the one that was kept: %j", (path) => {
    expect(way(path, visit)).toBe("fresh");
  });

  it.each(["assets/index-1a2b.js", "assets/KaTeX-3c4d.woff2"])("takes what is named by its content from what was kept: %s", (path) => {
    expect(way(path, { destination: "script" })).toBe("kept");
  });

  it.each(["theme.js", "mark.svg"])("asks for the page's other files, and has them when nobody answers: %s", (path) => {
    expect(way(path)).toBe("fresh");
  });

  it.each(["api/capabilities", "api/blobs/1a", "api/events", "v1/models", "ws/chat", "docs", "docs/docs.js", "openapi.json", "health", "sw.js", "preview.html", "preview/mermaid.js", "assets/gone-1.js", "licenses.txt"])(
    "leaves alone what is not the page: %s",
    (path) => {
      expect(way(path)).toBe("untouched");
      expect(way(path, visit)).toBe("untouched");
    },
  );

  it.each(["POST", "PUT", "PATCH", "DELETE", "HEAD"])("leaves every other method alone: %s", (method) => {
    expect(way("", { ...visit, method })).toBe("untouched");
    expect(way("assets/index-1a2b.js", { method })).toBe("untouched");
  });

  it("leaves frames, downloads and the page as a file alone", () => {
    expect(way("", { mode: "navigate", destination: "iframe" })).toBe("untouched");
    expect(way("index.html")).toBe("untouched");
    expect(way("assets/index-1a2b.js", visit)).toBe("untouched");
  });

  it.each(["https://chat.example/", "https://chat.example/talkative/assets/index-1a2b.js", "https://cdn.example/talk/assets/index-1a2b.js", "https://chat.example/talk"])(
    "leaves other places alone: %s",
    (url) => {
      expect(way("", { ...visit, url })).toBe("untouched");
    },
  );
});

it("finds the file of an address", () => {
  expect(fileAt(`${SCOPE}?a#b`, SCOPE)).toBe("index.html");
  expect(fileAt(`${SCOPE}theme.js?a`, SCOPE)).toBe("theme.js");
  expect(fileAt("https://chat.example/", SCOPE)).toBeNull();
});

it("takes a proxy's word that the server is gone, and no other status", () => {
  expect([502, 503, 504].every(isGone)).toBe(true);
  expect([200, 304, 401, 404, 500].some(isGone)).toBe(false);
});

it("lets go of former builds of this server, and of nothing else", () => {
  const mine = storeOf(SCOPE, "new");
  const stores = [mine, storeOf(SCOPE, "old"), storeOf("https://chat.example/", "old"), storeOf(`${SCOPE}more/`, "old"), "somebody's"];
  expect(formerStores(stores, SCOPE, "new")).toEqual([storeOf(SCOPE, "old")]);
});
