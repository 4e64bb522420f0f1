// A Markdown text without the marks that a drawn one does not show, line by line: cheap, and near enough for text that is
// scrolled past or searched by the browser. Pure.

const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*$\n?/gm;
const TABLE_RULE = /^ *\|[-:| ]+$\n?/gm;
const HEADING = /^ {0,3}#{1,6} +/gm;
const BULLET = /^( *)[-*+] +/gm;
const LINK = /!?\[([^[\]\n]*)\]\([^)\s]*\)/g;
const STRONG = /\*\*(?=\S)([^*\n]+)\*\*/g;
const EMPHASIS = /\*(?=\S)([^*\n]+)\*/g;
const CODE = /`([^`\n]+)`/g;
const BLANK_LINES = /\n{3,}/g;

export function unmarked(markdown: string): string {
  return markdown
    .replace(FENCE, "")
    .replace(TABLE_RULE, "")
    .replace(HEADING, "")
    .replace(BULLET, "$1• ")
    .replace(LINK, "$1")
    .replace(STRONG, "$1")
    .replace(EMPHASIS, "$1")
    .replace(CODE, "$1")
    .replace(BLANK_LINES, "\n\n")
    .trim();
}
