// Names a build after a digest of its files. The page carries the name, so that the server can tell it is outdated, and
// so does the service worker, for its cache. The same sources get the same name.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

import type { Plugin } from "vite";

const PAGE = "index.html";
const WORKER = "sw.js";
/** Compressed copies are derived from files that already count. */
const DERIVED = /\.(gz|br)$/;
/** The page and what it needs to open: these are cached by the service worker. Not what draws VRM figures, which is large and for the few
 * people who have one. */
const CACHED = /^(index\.html|theme\.js|mark\.svg|manifest\.webmanifest|assets\/(?!figure_face-).*|icons\/.*)$/;

/** All files below a folder, by address, in the same order on every machine. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !DERIVED.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

/** A digest of the files. */
export function nameOf(folder: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    const body = readFileSync(join(folder, file));
    hash.update(`${file}\0${body.length}\0`).update(body);
  }
  return hash.digest("hex").slice(0, 16);
}

/** The HTML with the build's name in its head. */
export function withBuildName(html: string, name: string): string {
  return html.replace("</title>", `</title>\n    <meta name="duologue-build" content="${name}">`);
}

/** Builds the service worker and writes the build's name into it and into the page. */
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
      if (!existsSync(page) || !existsSync(script)) return; // the build failed and has reported why
      const code = readFileSync(script, "utf8");
      // A module shared with the page would become a chunk, and a classic service worker cannot import one.
      if (/^\s*(import|export)\b/m.test(code)) throw new Error(`${WORKER} is not one script any more: it shares a part with the page.`);
      const files = filesOf(folder);
      const name = nameOf(folder, files);
      writeFileSync(page, withBuildName(readFileSync(page, "utf8"), name));
      const cached = files.filter((file) => CACHED.test(file));
      writeFileSync(script, `const DUOLOGUE_BUILD=${JSON.stringify(name)},DUOLOGUE_FILES=${JSON.stringify(cached)};\n${code}`);
    },
  };
}
