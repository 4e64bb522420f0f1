// Makes scrollable boxes reachable by keyboard, but only if they have something to scroll.
import { blocks as words } from "../../language/en/chat/blocks";

function mark(box: HTMLElement): void {
  const sideways = box.scrollWidth > box.clientWidth;
  if (sideways || box.scrollHeight > box.clientHeight) {
    const key = box.dataset["scrolls"] ?? "";
    const name = words().boxes[key] ?? key;
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", sideways ? words().sideways(name) : words().scrolls(name));
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
}

/** For `{@attach}` around boxes with `data-scrolls`, which is their name or its key in the texts of `blocks`. Runs
 * again when `content` changes. */
export function scrollable(content: string): (root: HTMLElement) => () => void {
  void content;
  return (root) => {
    const boxes = [...root.querySelectorAll<HTMLElement>("[data-scrolls]")];
    const observer = new ResizeObserver(() => boxes.forEach(mark));
    if (boxes.length > 0) observer.observe(root);
    return () => observer.disconnect();
  };
}
