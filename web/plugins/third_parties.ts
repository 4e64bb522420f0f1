// Third-party files that the bundler does not process: the diagram script, the maths fonts, and the licences of
// everything that is not in a bundle.
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

/** The folders of a package and all its dependencies. */
export function packagesBelow(name: string, from = ROOT, folders = new Set<string>()): Set<string> {
  const folder = folderOf(name, from);
  if (folder === null || folders.has(folder)) return folders;
  folders.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const dependency of Object.keys(dependencies).filter((each) => !each.startsWith("@types/"))) packagesBelow(dependency, folder, folders);
  return folders;
}

/** A package's licence entry, in the bundler's format. */
function entryOf(folder: string): { key: string; text: string } {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => LICENSE.test(each));
  const text = file ? `\n${readFileSync(join(folder, file), "utf8").trim()}\n` : "";
  return { key: `${name} - ${version}`, text: `\n## ${name} - ${version}${license ? ` (${license})` : ""}\n${text}` };
}

/** Adds the licences of packages that are copied or built separately; the bundler lists only those in its chunks. */
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
        const licenses = listed.source.toString();
        const folders = new Set(names.flatMap((name) => [...packagesBelow(name)]));
        const entries = [...folders].map(entryOf).filter(({ key }) => !licenses.includes(`## ${key}`));
        entries.sort((one, other) => (one.key < other.key ? -1 : 1));
        listed.source = licenses + entries.map(({ text }) => text).join("");
      },
    },
  };
}

/** Copies the diagram script unmodified. It runs in a frame without network access. */
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

/** Keeps only the WOFF2 fonts, which every supported browser reads. */
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
