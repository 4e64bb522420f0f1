// What others made and the bundler does not take apart: the diagrams' script, the fonts of maths, and the licences of
// everything that reaches the page by another way than its bundle.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Plugin } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIAGRAMS = "preview/mermaid.js";
const LICENSE = /^(licen[cs]e|copying)([.-].*)?$/i;

function folderOf(name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === dirname(folder)) return null;
  }
}

/** A package and all it needs, by folder. */
export function packagesBelow(name: string, from = ROOT, found = new Set<string>()): Set<string> {
  const folder = folderOf(name, from);
  if (folder === null || found.has(folder)) return found;
  found.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const needed of Object.keys(dependencies).filter((each) => !each.startsWith("@types/"))) packagesBelow(needed, folder, found);
  return found;
}

/** A package's entry, as the bundler writes those of what it bundled. */
function entryOf(folder: string): { key: string; text: string } {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => LICENSE.test(each));
  const words = file ? `\n${readFileSync(join(folder, file), "utf8").trim()}\n` : "";
  return { key: `${name} - ${version}`, text: `\n## ${name} - ${version}${license ? ` (${license})` : ""}\n${words}` };
}

/** Adds the licences of packages whose code the bundler copies or builds apart: it lists only its own chunks'. */
export function otherLicenses(fileName: string, names: readonly string[]): Plugin {
  return {
    name: "duologue-other-licenses",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const listed = bundle[fileName];
        if (listed?.type !== "asset") return this.error(`${fileName} is not there to be added to.`);
        const before = listed.source.toString();
        const folders = new Set(names.flatMap((name) => [...packagesBelow(name)]));
        const entries = [...folders].map(entryOf).filter(({ key }) => !before.includes(`## ${key}`));
        entries.sort((one, other) => (one.key < other.key ? -1 : 1));
        listed.source = before + entries.map(({ text }) => text).join("");
      },
    },
  };
}

/** The script that draws diagrams, whole as its makers built it: it runs in a frame that may reach nothing. */
export function diagrams(): Plugin {
  const read = () => readFileSync(join(folderOf("mermaid", ROOT)!, "dist/mermaid.min.js"));
  return {
    name: "duologue-diagrams",
    configureServer(server) {
      server.middlewares.use(`/${DIAGRAMS}`, (_, answer) => {
        answer.setHeader("content-type", "text/javascript").setHeader("access-control-allow-origin", "*").end(read());
      });
    },
    generateBundle() {
      this.emitFile({ type: "asset", fileName: DIAGRAMS, source: read() });
    },
  };
}

/** The fonts of maths in the one format that every browser which can run the page reads. */
export function oneFontFormat(): Plugin {
  return {
    name: "duologue-one-font-format",
    enforce: "pre",
    transform(code, id) {
      if (!/katex[^/]*\.css/.test(id)) return null;
      return { code: code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[^"]*"\)/g, ""), map: null };
    },
  };
}
