// Renders the page's logo from its SVG as the PNG icons for home screens and docks.
import { readFileSync } from "node:fs";

import { Resvg } from "@resvg/resvg-js";
import type { Plugin } from "vite";

const MARK = new URL("../public/mark.svg", import.meta.url);
/** The page's background in the light theme, as in src/ui/app/page.css. */
const PAPER = "#fcfbf8";

interface Icon {
  readonly file: string;
  readonly side: number;
  /** Size of the logo relative to the icon. */
  readonly share: number;
  readonly background?: string;
}

const ICONS: readonly Icon[] = [
  { file: "icons/icon-192.png", side: 192, share: 0.9 },
  { file: "icons/icon-512.png", side: 512, share: 0.9 },
  // Launchers crop it to their own shape, but leave a circle of 80 % intact.
  { file: "icons/maskable-512.png", side: 512, share: 0.56, background: PAPER },
  // Transparent areas would become black.
  { file: "icons/apple-touch-icon.png", side: 180, share: 0.68, background: PAPER },
];

/** The logo centred in a square, as SVG. */
export function squareIcon(mark: string, { share, background }: Pick<Icon, "share" | "background">): string {
  const edge = (100 * (1 - share)) / 2;
  const inner = mark.replace("<svg ", `<svg x="${edge}" y="${edge}" width="${100 * share}" height="${100 * share}" `);
  const paper = background ? `<rect width="100" height="100" fill="${background}" />` : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${paper}${inner}</svg>`;
}

export function icons(): Plugin {
  return {
    name: "duologue-icons",
    apply: "build",
    generateBundle() {
      const mark = readFileSync(MARK, "utf8");
      for (const icon of ICONS) {
        const source = new Resvg(squareIcon(mark, icon), { fitTo: { mode: "width", value: icon.side } }).render().asPng();
        this.emitFile({ type: "asset", fileName: icon.file, source });
      }
    },
    // Not in index.html, where the build would look for the file among the sources.
    transformIndexHtml: () => [{ tag: "link", attrs: { rel: "apple-touch-icon", href: "./icons/apple-touch-icon.png" }, injectTo: "head" }],
  };
}
