import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { filesOf, nameOf, withBuildName } from "../../plugins/build_name.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "build-"));
  mkdirSync(join(folder, "assets"));
  for (const file of ["index.html", "assets/b.js", "assets/a.css", "assets/a.css.gz", "index.html.br"]) writeFileSync(join(folder, file), file);
});

afterEach(() => rmSync(folder, { recursive: true }));

const name = () => nameOf(folder, filesOf(folder));

it("finds every file that is not made of another one, in order", () => {
  expect(filesOf(folder)).toEqual(["assets/a.css", "assets/b.js", "index.html"]);
});

it("names the same files the same, and a change in any of them another name", () => {
  const before = name();
  expect(before).toMatch(/^[0-9a-f]{16}$/);
  expect(name()).toBe(before);
  writeFileSync(join(folder, "assets/b.js"), "another");
  expect(name()).not.toBe(before);
});

it("distinguishes files by name too", () => {
  const before = nameOf(folder, ["index.html", "assets/b.js"]);
  expect(nameOf(folder, ["assets/b.js", "index.html"])).not.toBe(before);
});

it("writes the name into the head of the page, once", () => {
  expect(withBuildName("<head><title>Duologue</title></head>", "1a2b")).toMatch(/<\/title>\s*<meta name="duologue-build" content="1a2b"><\/head>/);
});
