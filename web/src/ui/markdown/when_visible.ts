// What is done once an element comes near the part of the page that is in view.

const MARGIN = "600px 0px";

const actions = new Map<Element, () => void>();
let observer: IntersectionObserver | undefined;

function onIntersect(entries: readonly IntersectionObserverEntry[]): void {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer?.unobserve(target);
    const action = actions.get(target);
    actions.delete(target);
    action?.();
  }
}

/** Runs `action` once. The answer calls it off. */
export function whenVisible(element: Element, action: () => void): () => void {
  observer ??= new IntersectionObserver(onIntersect, { rootMargin: MARGIN });
  actions.set(element, action);
  observer.observe(element);
  return () => {
    observer?.unobserve(element);
    actions.delete(element);
  };
}
