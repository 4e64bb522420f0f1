// Boxes that scroll sideways are reached by keyboard, but only where there is something to scroll.

function mark(box: HTMLElement): void {
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${box.dataset["scrolls"] ?? "Content"}, scrolls sideways`);
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
}

/** For `{@attach}` around boxes that carry `data-scrolls`; `content` is what it must look at again when changed. */
export function scrollable(content: string): (root: HTMLElement) => () => void {
  void content;
  return (root) => {
    const boxes = [...root.querySelectorAll<HTMLElement>("[data-scrolls]")];
    const observer = new ResizeObserver(() => boxes.forEach(mark));
    if (boxes.length > 0) observer.observe(root);
    return () => observer.disconnect();
  };
}
