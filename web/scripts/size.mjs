// Holds the first load to its budget, gzipped: what index.html asks for, and what the first screen is made of besides. Says, too,
// what a conversation takes.
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

const asked = {
  script: [
    ...html.matchAll(/<script[^>]+src="([^"]+)"/g),
    ...html.matchAll(/<link[^>]+rel="modulepreload"[^>]+href="([^"]+)"/g),
  ].map((match) => match[1]),
  style: [...html.matchAll(/<link[^>]+rel="stylesheet"[^>]+href="([^"]+)"/g)].map((match) => match[1]),
};

const assets = readdirSync(new URL("assets/", page));
const part = (name) => {
  const found = assets.filter((file) => file.startsWith(`${name}-`) && file.endsWith(".js"));
  if (found.length !== 1) throw new Error(`There are ${found.length} parts called ${name}: this check no longer measures anything.`);
  return `assets/${found[0]}`;
};
/** A script with all that it imports before it runs. */
const whole = (file, known) => {
  if (known.has(file)) return known;
  known.add(file);
  const text = readFileSync(new URL(file, page), "utf8");
  for (const [, name] of text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) whole(`assets/${name}`, known);
  return known;
};
const first = new Set(asked.script.map((file) => file.replace(/^\.\//, "")));
for (const name of ["Welcome", "Sidebar"]) whole(part(name), first);
asked.script = [...first];
const sizeOf = (files) => files.reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, page)), { level: 9 }).length, 0);

let over = false;
for (const [kind, budget] of Object.entries(budgets)) {
  const files = [...new Set(asked[kind])];
  if (files.length === 0) {
    console.error(`index.html asks for no ${kind}: this check no longer measures anything.`);
    process.exit(1);
  }
  const size = sizeOf(files);
  over ||= size > budget;
  console.log(`${kind}: ${(size / 1024).toFixed(1)} KB gzip of ${budget / 1024} KB${size > budget ? ", OVER BUDGET" : ""}`);
}
console.log(`with a conversation: ${(sizeOf([...whole(part("Thread"), first)]) / 1024).toFixed(1)} KB gzip of script`);
process.exit(over ? 1 : 0);
