// Completes an unfinished block for display: closes emphasis, and holds back what may still turn into something else (a
// lone list marker, a table header, half a fence), so that nothing flickers. Closing emphasis needs a library that is
// loaded later; until then, trailing marks are only held back.
import { replaceMaths } from "./maths";

const LONE_MARKER = /^[ \t>]*(?:[-+*_=#>`~|]+|\d{1,9}[.)])[ \t]*$/;
const TRAILING_MARKS = /[*_~`]+$/;
const ROW = /^ {0,3}\|/;
/** Stands for a formula while the text around it is completed. */
const PLACEHOLDER = "\uE000";
const PART_OF_DELIMITER = /^[ \t|:-]*$/;

function withoutAmbiguousLines(raw: string): string {
  const lines = raw.split("\n");
  const last = lines.at(-1) ?? "";
  const before = lines.at(-2) ?? "";
  const third = lines.at(-3) ?? "";
  const insideTable = ROW.test(third) || (ROW.test(before) && !PART_OF_DELIMITER.test(last));
  if (!insideTable && ROW.test(before) && PART_OF_DELIMITER.test(last)) return lines.slice(0, -2).join("\n");
  if (!insideTable && ROW.test(last)) return lines.slice(0, -1).join("\n");
  if (LONE_MARKER.test(last)) return lines.slice(0, -1).join("\n");
  return raw;
}

let closeMarks: (text: string) => string = (text) => text;

/** Loads the library that closes emphasis. */
export async function loadRemend(): Promise<void> {
  const { default: remend } = await import("remend");
  closeMarks = (text) => remend(text, { linkMode: "text-only", katex: false, inlineKatex: false });
}

function withoutOpenMarks(raw: string, isTable: boolean): string {
  const stable = isTable ? raw : withoutAmbiguousLines(raw);
  return closeMarks(stable.replace(TRAILING_MARKS, ""));
}

/** The Markdown to display for the `raw` text of an unfinished block. */
export function mend(raw: string, isTable: boolean): string {
  if (raw.includes(PLACEHOLDER)) return withoutOpenMarks(raw, isTable);
  const formulas: string[] = [];
  const around = replaceMaths(raw, (formula) => (formulas.push(formula), PLACEHOLDER));
  return withoutOpenMarks(around, isTable).replaceAll(PLACEHOLDER, () => formulas.shift() ?? "");
}
