import { localised } from "../../language.svelte";

/** Texts inside rendered Markdown and around code blocks. */
const english = {
  text: "text",
  image: "image",
  done: "done",
  toDo: "to do",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Couldn’t copy",
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
  diagramFailed: "Can’t draw this diagram.",
  show: "Show",
  showPicture: (host: string) => `Show picture from ${host}`,
  showing: "Loading",
  pictureFailed: "Couldn’t load the picture. Try again.",
  diagramSlow: "Drawing took too long.",
  frameFailed: "Can’t show this. Reload the page to try again.",
  boxes: { code: "Code", table: "Table", maths: "Formula" } as Readonly<Record<string, string>>,
  sideways: (box: string) => `${box}, scrolls horizontally`,
  scrolls: (box: string) => `${box}, scrolls`,
};

export type BlocksWords = typeof english;

export const blocks = (): BlocksWords => localised("blocks", english);
