// Holds the first load to its budget: every script and style that index.html asks for, gzipped.
import { readFileSync } from "node:fs";
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

let over = false;
for (const [kind, budget] of Object.entries(budgets)) {
  const files = [...new Set(asked[kind])];
  if (files.length === 0) {
    console.error(`index.html asks for no ${kind}: this check no longer measures anything.`);
    process.exit(1);
  }
  const size = files.reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, page)), { level: 9 }).length, 0);
  over ||= size > budget;
  console.log(`${kind}: ${(size / 1024).toFixed(1)} KB gzip of ${budget / 1024} KB${size > budget ? ", OVER BUDGET" : ""}`);
}
process.exit(over ? 1 : 0);
