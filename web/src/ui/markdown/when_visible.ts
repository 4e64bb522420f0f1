// Runs an action once when an element comes near the viewport.

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

/** Runs `action` once. The returned function cancels it. */
export function whenVisible(element: Element, action: () => void): () => void {
  observer ??= new IntersectionObserver(onIntersect, { rootMargin: MARGIN });
  actions.set(element, action);
  observer.observe(element);
  return () => {
    observer?.unobserve(element);
    actions.delete(element);
  };
}
