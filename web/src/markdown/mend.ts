// What to show of a block that is still being written: emphasis is closed, and what may yet turn into something
// else (a lone list marker, the head of a table, half a fence) is held back, so that nothing flashes.
import remend from "remend";

const LONE_MARKER = /^[ \t>]*(?:[-+*_=#>`~|]+|\d{1,9}[.)])[ \t]*$/;
const TRAILING_MARKS = /[*_~`]+$/;
const ROW = /^ {0,3}\|/;
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

/** Markdown to draw in place of an unfinished block's `raw` text. */
export function mend(raw: string, isTable: boolean): string {
  const settled = isTable ? raw : withoutUnsettledLines(raw);
  return remend(settled.replace(TRAILING_MARKS, ""), { linkMode: "text-only", katex: false, inlineKatex: false });
}
