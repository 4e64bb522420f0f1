// The last check before the page: only what the renderer itself produces passes.
import DOMPurify from "dompurify";

import { safePicture } from "./render";

const ALLOWED_TAGS = [
  ...["p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "strong", "em", "del", "a", "code", "pre"],
  ...["table", "thead", "tbody", "tr", "th", "td", "div", "span", "button", "img"],
];
const ALLOWED_ATTR = ["href", "target", "rel", "class", "start", "align", "role", "aria-label", "type", "src", "alt"];
const DATA = ["data-copy", "data-show", "data-scrolls", "data-says", "data-maths", "data-language"];

// A picture that is not drawn from this server or the text itself would tell another server what is read.
DOMPurify.addHook("uponSanitizeAttribute", (_, attribute) => {
  if (attribute.attrName === "src" && safePicture(attribute.attrValue) === null) attribute.keepAttr = false;
});

export function sanitize(html: string): string {
  return DOMPurify.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR: [...ALLOWED_ATTR, ...DATA], ALLOW_DATA_ATTR: false });
}
