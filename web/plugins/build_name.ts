// The name of a build, made from all that it wrote: the page carries it, so that the server can say when it is old, and
// the service worker, so that it knows what it keeps. The same sources have the same name.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

import type { Plugin } from "vite";

const PAGE = "index.html";
const WORKER = "sw.js";
/** What is made of other files, and so says nothing new. */
const DERIVED = /\.(gz|br)$/;
/** The page, and what it needs to open. */
const KEPT = /^(index\.html|theme\.js|mark\.svg|manifest\.webmanifest|assets\/.*|icons\/.*)$/;

/** All files below a folder, by their address, in one order on every machine. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !DERIVED.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

/** A name for what these files hold. */
export function nameOf(folder: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    const body = readFileSync(join(folder, file));
    hash.update(`${file}\0${body.length}\0`).update(body);
  }
  return hash.digest("hex").slice(0, 16);
}

/** The page with its build's name in its head. */
export function named(html: string, name: string): string {
  return html.replace("</title>", `</title>\n    <meta name="duologue-build" content="${name}">`);
}

/** Builds the service worker beside the page, and writes the name of the build into both. */
export function buildName(worker: string): Plugin {
  let folder = "";
  return {
    name: "duologue-build-name",
    apply: "build",
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir);
    },
    buildStart() {
      this.emitFile({ type: "chunk", id: worker, fileName: WORKER });
    },
    closeBundle() {
      const [page, script] = [join(folder, PAGE), join(folder, WORKER)];
      if (!existsSync(page) || !existsSync(script)) return; // the build broke off, and says why
      const code = readFileSync(script, "utf8");
      // A part that the page has too would become a file of its own, and such a script can load none.
      if (/^\s*(import|export)\b/m.test(code)) throw new Error(`${WORKER} is not one script any more: it shares a part with the page.`);
      const files = filesOf(folder);
      const name = nameOf(folder, files);
      writeFileSync(page, named(readFileSync(page, "utf8"), name));
      const kept = files.filter((file) => KEPT.test(file));
      writeFileSync(script, `const DUOLOGUE_BUILD=${JSON.stringify(name)},DUOLOGUE_FILES=${JSON.stringify(kept)};\n${code}`);
    },
  };
}
