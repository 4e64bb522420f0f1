// What to show of a block that is still being written: emphasis is closed, and what may yet turn into something
// else (a lone list marker, the head of a table, half a fence) is held back, so that nothing flashes. What closes
// emphasis comes when the page has time; until it is there, marks at the end are held back and no more.
import { replaceMaths } from "./maths";

const LONE_MARKER = /^[ \t>]*(?:[-+*_=#>`~|]+|\d{1,9}[.)])[ \t]*$/;
const TRAILING_MARKS = /[*_~`]+$/;
const ROW = /^ {0,3}\|/;
/** Stands for a formula while the text around it is mended. */
const ASIDE = "\uE000";
const PART_OF_DELIMITER = /^[ \t|:-]*$/;

function withoutUnsettledLines(raw: string): string {
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

/** Fetch what closes emphasis. */
export async function learnToMend(): Promise<void> {
  const { default: remend } = await import("remend");
  closeMarks = (text) => remend(text, { linkMode: "text-only", katex: false, inlineKatex: false });
}

function withoutOpenMarks(raw: string, isTable: boolean): string {
  const settled = isTable ? raw : withoutUnsettledLines(raw);
  return closeMarks(settled.replace(TRAILING_MARKS, ""));
}

/** Markdown to draw in place of an unfinished block's `raw` text. */
export function mend(raw: string, isTable: boolean): string {
  if (raw.includes(ASIDE)) return withoutOpenMarks(raw, isTable);
  const formulas: string[] = [];
  const around = replaceMaths(raw, (formula) => (formulas.push(formula), ASIDE));
  return withoutOpenMarks(around, isTable).replaceAll(ASIDE, () => formulas.shift() ?? "");
}
