// Checks the gzipped size of the first load against its budget: what index.html requests, and the chunks of the first
// screen. Also prints the size with a conversation.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const page = new URL("../../src/duologue/gateway/page/", import.meta.url);
const budgets = { script: 100 * 1024, style: 20 * 1024 };

let html;
try {
  html = readFileSync(new URL("index.html", page), "utf8");
} catch {
  console.error(`There is no built page in ${fileURLToPath(page)}: run "npm run build" first.`);
  process.exit(1);
}

const requested = {
  script: [
    ...html.matchAll(/<script[^>]+src="([^"]+)"/g),
    ...html.matchAll(/<link[^>]+rel="modulepreload"[^>]+href="([^"]+)"/g),
  ].map((match) => match[1]),
  style: [...html.matchAll(/<link[^>]+rel="stylesheet"[^>]+href="([^"]+)"/g)].map((match) => match[1]),
};

const assets = readdirSync(new URL("assets/", page));
const chunk = (name) => {
  const matches = assets.filter((file) => file.startsWith(`${name}-`) && file.endsWith(".js"));
  if (matches.length !== 1) throw new Error(`There are ${matches.length} parts called ${name}: this check no longer measures anything.`);
  return `assets/${matches[0]}`;
};
/** A script and its static imports. */
const withImports = (file, files) => {
  if (files.has(file)) return files;
  files.add(file);
  const text = readFileSync(new URL(file, page), "utf8");
  for (const [, name] of text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) withImports(`assets/${name}`, files);
  return files;
};
const first = new Set(requested.script.map((file) => file.replace(/^\.\//, "")));
for (const name of ["Welcome", "Sidebar"]) withImports(chunk(name), first);
requested.script = [...first];
const sizeOf = (files) => files.reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, page)), { level: 9 }).length, 0);

let isOver = false;
for (const [kind, budget] of Object.entries(budgets)) {
  const files = [...new Set(requested[kind])];
  if (files.length === 0) {
    console.error(`index.html asks for no ${kind}: this check no longer measures anything.`);
    process.exit(1);
  }
  const size = sizeOf(files);
  isOver ||= size > budget;
  console.log(`${kind}: ${(size / 1024).toFixed(1)} KB gzip of ${budget / 1024} KB${size > budget ? ", OVER BUDGET" : ""}`);
}
console.log(`with a conversation: ${(sizeOf([...withImports(chunk("Thread"), first)]) / 1024).toFixed(1)} KB gzip of script`);
process.exit(isOver ? 1 : 0);
