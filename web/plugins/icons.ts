// The page's mark as the pictures that home screens and docks want, drawn from the one SVG there is.
import { readFileSync } from "node:fs";

import { Resvg } from "@resvg/resvg-js";
import type { Plugin } from "vite";

const MARK = new URL("../public/mark.svg", import.meta.url);
/** The page's paper by day, as in src/ui/app/page.css. */
const PAPER = "#fcfbf8";

interface Picture {
  readonly file: string;
  readonly side: number;
  /** How much of the side the mark takes. */
  readonly share: number;
  readonly ground?: string;
}

const PICTURES: readonly Picture[] = [
  { file: "icons/icon-192.png", side: 192, share: 0.9 },
  { file: "icons/icon-512.png", side: 512, share: 0.9 },
  // A launcher cuts it to its own shape, and leaves a circle of four fifths whole.
  { file: "icons/maskable-512.png", side: 512, share: 0.56, ground: PAPER },
  // Where nothing is drawn it would become black.
  { file: "icons/apple-touch-icon.png", side: 180, share: 0.68, ground: PAPER },
];

/** The mark in the middle of a square, as SVG. */
export function framed(mark: string, { share, ground }: Pick<Picture, "share" | "ground">): string {
  const edge = (100 * (1 - share)) / 2;
  const inner = mark.replace("<svg ", `<svg x="${edge}" y="${edge}" width="${100 * share}" height="${100 * share}" `);
  const paper = ground ? `<rect width="100" height="100" fill="${ground}" />` : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${paper}${inner}</svg>`;
}

export function icons(): Plugin {
  return {
    name: "duologue-icons",
    apply: "build",
    generateBundle() {
      const mark = readFileSync(MARK, "utf8");
      for (const picture of PICTURES) {
        const source = new Resvg(framed(mark, picture), { fitTo: { mode: "width", value: picture.side } }).render().asPng();
        this.emitFile({ type: "asset", fileName: picture.file, source });
      }
    },
    // Not in index.html: there the build would look for the picture among the sources.
    transformIndexHtml: () => [{ tag: "link", attrs: { rel: "apple-touch-icon", href: "./icons/apple-touch-icon.png" }, injectTo: "head" }],
  };
}
