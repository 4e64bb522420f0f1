// The words for what was made of files before the model got them: one line, and details where the line does not say all. Pure.
import type { FittedFile } from "../../chat/reply/fitted_files";
import { thread as words } from "../../language/en/chat/thread";
import { wholeSeconds } from "../parts/number_format";

/** One file. */
export interface FittedDetail {
  /** Empty where the line has said it. */
  readonly sentence: string;
  /** What was written down of a sound. */
  readonly quote: string;
}

export interface FittedLines {
  readonly line: string;
  readonly details: readonly FittedDetail[];
}

/** Null if nothing was changed. */
export function fittedLines(files: readonly FittedFile[]): FittedLines | null {
  const [first, ...more] = files;
  if (!first) return null;
  if (more.length > 0) return { line: words().fitted.many(files.length), details: files.map((file) => ({ sentence: timed(file), quote: quoteOf(file) })) };
  const quote = quoteOf(first);
  return { line: sentenceOf(first), details: quote === "" ? [] : [{ sentence: "", quote }] };
}

function quoteOf({ sound }: FittedFile): string {
  return sound === null || sound.understood === false ? "" : sound.text.trim();
}

/** With its length, which tells files apart. */
function timed(file: FittedFile): string {
  const { seconds = 0 } = file.note;
  return `${sentenceOf(file)}${seconds > 0 ? ` (${wholeSeconds(seconds * 1000)})` : ""}`;
}

function sentenceOf(file: FittedFile): string {
  const { kind, became, count = 0 } = file.note;
  const said = words().fitted;
  switch (became) {
    case "frames":
      return said.frames(count);
    case "frames_and_sound":
      return said.framesAndSound(count);
    case "text":
      return quoteOf(file) === "" ? said.noWords : said.text;
    case "resized":
      return said.resized;
    case "left_out":
      return said.leftOut[kind];
  }
}
