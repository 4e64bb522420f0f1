import { describe, expect, it } from "vitest";

import { configOf, parseServers, type ServerForm } from "../../src/settings/server_config";

const NOTES = { command: "npx", args: ["notes"] };
const WEB = { url: "https://example.org/mcp" };

describe("pasted JSON", () => {
  it.each([
    JSON.stringify({ mcpServers: { notes: NOTES, web: WEB } }),
    JSON.stringify({ servers: { notes: NOTES, web: WEB } }),
    JSON.stringify({ notes: NOTES, web: WEB }),
    `"mcpServers": ${JSON.stringify({ notes: NOTES, web: WEB })},`,
  ])("names each of its servers: %s", (text) => {
    expect(parseServers(text)).toEqual({ servers: [{ name: "notes", config: NOTES }, { name: "web", config: WEB }] });
  });

  it("may be one server without its name", () => {
    expect(parseServers(JSON.stringify(WEB), " web ")).toEqual({ servers: [{ name: "web", config: WEB }] });
    expect(parseServers(JSON.stringify(WEB))).toEqual({ fault: "name" });
    expect(parseServers(JSON.stringify({ name: "mine", ...WEB }))).toMatchObject({ servers: [{ name: "mine" }] });
  });

  it("is renamed where it holds only one", () => {
    expect(parseServers(JSON.stringify({ notes: NOTES }), "other")).toMatchObject({ servers: [{ name: "other" }] });
    expect(parseServers(JSON.stringify({ notes: NOTES, web: WEB }), "other")).toMatchObject({ servers: [{ name: "notes" }, { name: "web" }] });
  });

  it.each([
    ["  ", "empty"],
    ["npx notes", "json"],
    ["[]", "shape"],
    ["{}", "shape"],
    ['{"mcpServers": []}', "shape"],
    ['{"mcpServers": {"notes": {"args": []}}}', "shape"],
    ['{"notes": "npx"}', "shape"],
  ])("%s is none: %s", (text, fault) => {
    expect(parseServers(text)).toEqual({ fault });
  });
});

describe("the form", () => {
  const form: ServerForm = { name: "notes", kind: "command", command: "npx", args: "", env: "", url: "", headers: "" };

  it("gives a command with its arguments and variables", () => {
    expect(configOf({ ...form, args: "-y\n a b \n\n", env: "TOKEN=a=b\n HOME = /x " })).toEqual({
      name: "notes",
      config: { command: "npx", args: ["-y", "a b"], env: { TOKEN: "a=b", HOME: "/x" } },
    });
  });

  it("gives an address with its headers", () => {
    expect(configOf({ ...form, kind: "url", url: " https://example.org/mcp ", headers: "Authorization: Bearer x:y" })).toEqual({
      name: "notes",
      config: { url: "https://example.org/mcp", headers: { Authorization: "Bearer x:y" } },
    });
    expect(configOf({ ...form, kind: "url", url: "http://localhost:1" })).toMatchObject({ config: { url: "http://localhost:1" } });
  });

  it.each<[Partial<ServerForm>, object]>([
    [{ name: " " }, { field: "name" }],
    [{ command: "" }, { field: "command" }],
    [{ env: "A=1\nB" }, { field: "env", line: "B" }],
    [{ kind: "url" }, { field: "url" }],
    [{ kind: "url", url: "example.org" }, { field: "url" }],
    [{ kind: "url", url: "https://example.org", headers: "Bearer" }, { field: "headers", line: "Bearer" }],
  ])("names the field that is wrong: %o", (changes, fault) => {
    expect(configOf({ ...form, ...changes })).toEqual(fault);
  });
});
