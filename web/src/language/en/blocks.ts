import { localised } from "../language.svelte";

/** Texts inside rendered Markdown and around code blocks. */
const english = {
  text: "text",
  image: "image",
  done: "done",
  toDo: "to do",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Not copied",
  copyCode: "Copy code",
  downloadCode: "Download code",
  wrap: "Wrap long lines",
  lines: (count: number) => (count === 1 ? "1 line" : `${count} lines`),
  showAll: (count: number) => `Show all ${count} lines`,
  showLess: "Show less",
  showCode: "Show code",
  preview: "Preview",
  previewOf: (language: string) => `Preview of ${language}`,
  showDiagram: "Show diagram",
  diagram: "Diagram",
  downloadDiagram: "Download diagram",
  diagramFailed: "This diagram cannot be drawn.",
  frameFailed: "This cannot be shown. Reload the page and try again.",
  boxes: { code: "Code", table: "Table", maths: "Formula" } as Readonly<Record<string, string>>,
  sideways: (box: string) => `${box}, scrolls sideways`,
  scrolls: (box: string) => `${box}, scrolls`,
};

export type BlocksWords = typeof english;

export const blocks = (): BlocksWords => localised("blocks", english);
