// Draws the turns of a long conversation in full when they come near the viewport, a few a frame, and keeps in place what
// is being read. Owned by the thread, one for each time it is shown.
import { flushSync } from "svelte";

/** How near: this much of the viewport's height above and below it. */
const MARGIN = "100%";
/** What drawing may take of a frame, in milliseconds. */
const FRAME_MS = 8;

interface Watched {
  readonly draw: () => void;
  /** Distance from the middle of the viewport in pixels; null if not near. */
  distance: number | null;
}

export class TurnWindow {
  readonly #turns = new Map<Element, Watched>();
  #scroller: Element | null = null;
  #observer: IntersectionObserver | null = null;
  #frame = 0;
  /** Scrolled by hand since the page lost the focus. */
  #byHand = false;

  /** For `{@attach}` on the list of turns. */
  attach = (list: Element): (() => void) => {
    this.#scroller = list.closest(".scroller");
    this.#observer = new IntersectionObserver((entries) => this.#onIntersect(entries), { root: this.#scroller, rootMargin: `${MARGIN} 0px` });
    for (const element of this.#turns.keys()) this.#observer.observe(element);
    const onHand = () => {
      this.#byHand = true;
      this.#schedule();
    };
    const onFocus = () => this.#schedule();
    const onBlur = () => (this.#byHand = false);
    this.#scroller?.addEventListener("wheel", onHand, { passive: true });
    this.#scroller?.addEventListener("touchmove", onHand, { passive: true });
    addEventListener("focus", onFocus);
    addEventListener("blur", onBlur);
    addEventListener("beforeprint", this.#drawAll);
    return () => {
      cancelAnimationFrame(this.#frame);
      this.#observer?.disconnect();
      this.#observer = null;
      this.#scroller?.removeEventListener("wheel", onHand);
      this.#scroller?.removeEventListener("touchmove", onHand);
      removeEventListener("focus", onFocus);
      removeEventListener("blur", onBlur);
      removeEventListener("beforeprint", this.#drawAll);
    };
  };

  /** Calls `draw`, which replaces `element`, when it comes near. The returned function cancels that. */
  watch(element: Element, draw: () => void): () => void {
    this.#turns.set(element, { draw, distance: null });
    this.#observer?.observe(element);
    return () => {
      this.#observer?.unobserve(element);
      this.#turns.delete(element);
    };
  }

  #onIntersect(entries: readonly IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target, boundingClientRect: box, rootBounds } of entries) {
      const turn = this.#turns.get(target);
      if (!turn) continue;
      const middle = rootBounds ? (rootBounds.top + rootBounds.bottom) / 2 : 0;
      turn.distance = isIntersecting ? Math.max(0, box.top - middle, middle - box.bottom) : null;
    }
    this.#schedule();
  }

  #schedule(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(this.#drawSome);
  }

  #drawSome = (): void => {
    // A search of the browser has the focus while it goes from match to match: drawing would take its mark away.
    if (!document.hasFocus() && !this.#byHand) return;
    const near = [...this.#turns].filter(([, { distance }]) => distance !== null).sort(([, one], [, other]) => one.distance! - other.distance!);
    const end = performance.now() + FRAME_MS;
    for (const [element, turn] of near) {
      if (performance.now() > end) return this.#schedule();
      this.#draw(element, turn);
    }
  };

  #drawAll = (): void => {
    for (const { draw } of [...this.#turns.values()]) draw();
    flushSync();
  };

  #draw(element: Element, { draw }: Watched): void {
    const message = element.getAttribute("data-message");
    const focused = element === document.activeElement;
    const scroller = CSS.supports("overflow-anchor", "auto") ? null : this.#scroller;
    const isAbove = scroller !== null && element.getBoundingClientRect().bottom <= scroller.getBoundingClientRect().top;
    const height = isAbove ? scroller.scrollHeight : 0;
    this.#turns.delete(element);
    flushSync(draw);
    if (isAbove) scroller.scrollTop += scroller.scrollHeight - height;
    if (focused) document.querySelector<HTMLElement>(`[data-message="${CSS.escape(message ?? "")}"]`)?.focus({ preventScroll: true });
  }
}
