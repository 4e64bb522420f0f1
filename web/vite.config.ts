// Builds the page with relative addresses, so that it works under any base path, into the Python package, each file
// with precompressed copies for the server to send.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

import { buildName } from "./plugins/build_name.ts";
import { icons } from "./plugins/icons.ts";
import { diagrams, oneFontFormat, otherLicenses } from "./plugins/third_parties.ts";

const page = fileURLToPath(new URL("../src/duologue/gateway/page", import.meta.url));
const server = process.env["DUOLOGUE_URL"] ?? "http://127.0.0.1:8006";

const LICENSES = "licenses.txt";

function compressedTwins(): Plugin {
  const TEXT = /\.(html|js|css|svg)$/;
  const LARGE = 1_000_000;
  let folder = page;
  return {
    name: "duologue-compressed-twins",
    apply: "build",
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir);
    },
    closeBundle() {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !TEXT.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const body = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(body, { level: 9 }));
        // The highest quality takes seconds per megabyte and saves 5 %.
        const quality = body.length > LARGE ? 9 : constants.BROTLI_MAX_QUALITY;
        writeFileSync(`${path}.br`, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality } }));
      }
    },
  };
}

// /docs is Swagger UI, unmodified and separate from the page; docs.html in public/ loads it.
function documentation(): Plugin {
  const source = new URL("./node_modules/swagger-ui-dist/", import.meta.url);
  const read = (name: string) => readFileSync(new URL(name, source));
  return {
    name: "duologue-documentation",
    apply: "build",
    generateBundle() {
      for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"]) {
        this.emitFile({ type: "asset", fileName: `docs/${name}`, source: read(name) });
      }
      const licenses = ["NOTICE", "LICENSE", "swagger-ui-bundle.js.LICENSE.txt"].map((name) => read(name).toString());
      this.emitFile({ type: "asset", fileName: "docs/licenses.txt", source: licenses.join("\n") });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [svelte(), documentation(), oneFontFormat(), diagrams(), otherLicenses(LICENSES, ["mermaid", "highlight.js"]), icons(), buildName("/src/offline/worker.ts"), compressedTwins()],
  build: {
    outDir: page,
    emptyOutDir: true,
    // Licences of everything in the bundle, shipped with it.
    license: { fileName: LICENSES },
    target: "es2022",
    // How long each plugin took is of no use to somebody who starts the server for the first time.
    rolldownOptions: { checks: { bundlerTimings: false } },
    // What draws VRM figures, loaded with one.
    chunkSizeWarningLimit: 800,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  // `npm run dev` against a running server; it must allow this origin (--allow-origin http://localhost:5173).
  server: { proxy: { "/api": server, "/v1": server, "/ws": { target: server, ws: true } } },
  test: {
    environment: "node",
    // A process and all modules anew for each of nearly 200 files were two thirds of the time. No file may leave anything behind.
    isolate: false,
    include: ["tests/**/*.test.ts"],
  },
});
