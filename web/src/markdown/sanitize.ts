// The last check before the page: only what the renderer itself produces passes.
import DOMPurify from "dompurify";

const ALLOWED_TAGS = [
  ...["p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "strong", "em", "del", "a", "code", "pre"],
  ...["table", "thead", "tbody", "tr", "th", "td", "div", "span", "button"],
];
const ALLOWED_ATTR = ["href", "target", "rel", "class", "start", "align", "role", "aria-label", "type"];
const DATA = ["data-copy", "data-scrolls", "data-says", "data-maths", "data-language"];

export function sanitize(html: string): string {
  return DOMPurify.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR: [...ALLOWED_ATTR, ...DATA], ALLOW_DATA_ATTR: false });
}
