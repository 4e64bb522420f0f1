// Keeps the end of the thread in view while the user wants that. Growing content never moves a user who has scrolled
// up; returning to the bottom or sending follows again. Any upward wheel, key or swipe stops following.

const NEAR_PIXELS = 24;
/** Milliseconds until unfolded content is drawn. */
const UNFOLD_MS = 250;
const UPWARD_KEYS = new Set(["ArrowUp", "PageUp", "Home"]);

export class Follower {
  readonly #isLive: () => boolean;
  readonly #observer = new ResizeObserver(() => this.#update());
  #following = $state(true);
  #unread = $state(false);
  #scroller: HTMLElement | null = null;
  #top = 0;
  #height = 0;
  #finger = 0;
  /** The next growth is caused by unfolding. */
  #unfolding = false;

  /** `isLive`: growth is new content. */
  constructor(isLive: () => boolean = () => true) {
    this.#isLive = isLive;
  }

  get following(): boolean {
    return this.#following;
  }

  /** There is new content below the viewport. */
  get unread(): boolean {
    return this.#unread && !this.#following;
  }

  /** For `{@attach}` on the scrolling element; its first child is the content. */
  attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller;
    this.#following = true;
    this.#unread = false;
    const onScroll = () => this.#onScroll(scroller);
    // An upward wheel or swipe wins over growth in the same frame.
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0) this.#release(scroller);
    };
    const onTouchStart = (event: TouchEvent) => (this.#finger = event.touches[0]?.clientY ?? 0);
    const onTouchMove = (event: TouchEvent) => {
      const finger = event.touches[0]?.clientY ?? 0;
      if (finger > this.#finger + 2) this.#release(scroller);
      this.#finger = finger;
    };
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof Element && event.target.closest("textarea, input, select") !== null;
      if (!typing && (UPWARD_KEYS.has(event.key) || (event.key === " " && event.shiftKey))) this.#release(scroller);
    };
    // Someone who unfolds content or switches versions wants to read that, not the end.
    const onClick = (event: MouseEvent) => {
      if (!(event.target instanceof Element) || !event.target.closest("[aria-expanded]:not([aria-haspopup]), [data-stays]")) return;
      this.#unfolding = true;
      // Later growth has another cause.
      setTimeout(() => (this.#unfolding = false), UNFOLD_MS);
    };
    this.#observe();
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("wheel", onWheel, { passive: true });
    scroller.addEventListener("touchstart", onTouchStart, { passive: true });
    scroller.addEventListener("touchmove", onTouchMove, { passive: true });
    scroller.addEventListener("keydown", onKey);
    scroller.addEventListener("click", onClick, { capture: true });
    return () => {
      this.#observer.disconnect();
      scroller.removeEventListener("scroll", onScroll);
      scroller.removeEventListener("wheel", onWheel);
      scroller.removeEventListener("touchstart", onTouchStart);
      scroller.removeEventListener("touchmove", onTouchMove);
      scroller.removeEventListener("keydown", onKey);
      scroller.removeEventListener("click", onClick, { capture: true });
      this.#scroller = null;
    };
  };

  /** Jumps to the end and follows it. */
  jump(): void {
    this.#following = true;
    this.#unread = false;
    this.#update();
    this.#observe();
  }

  /** Stops following. */
  leave(): void {
    this.#following = false;
  }

  /** Observing anew reports the size in the next frame even if it is the old one: a copied chat replaces its original,
   * which is as high, within one frame. */
  #observe(): void {
    this.#observer.disconnect();
    if (!this.#scroller) return;
    this.#observer.observe(this.#scroller);
    if (this.#scroller.firstElementChild) this.#observer.observe(this.#scroller.firstElementChild);
  }

  #release(scroller: HTMLElement): void {
    if (scroller.scrollTop > 0) this.#following = false;
  }

  #onScroll(scroller: HTMLElement): void {
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const shrank = scrollHeight < this.#height;
    if (scrollHeight - clientHeight - scrollTop <= NEAR_PIXELS) {
      // The event may report a position set before the user scrolled away; that must not resume following.
      if (scrollTop > this.#top || shrank) this.#following = true;
      if (this.#following) this.#unread = false;
    }
    // Moved up, and not because the content became shorter: the user scrolled.
    else if (scrollTop < this.#top - 1 && !shrank) this.#following = false;
    this.#top = scrollTop;
    this.#height = scrollHeight;
  }

  #update(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    if (this.#unfolding) this.#following = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= NEAR_PIXELS;
    if (this.#following) scroller.scrollTop = scroller.scrollHeight;
    else if (scroller.scrollHeight <= scroller.clientHeight + NEAR_PIXELS) this.#following = true;
    else if (scroller.scrollHeight > this.#height + 1 && !this.#unfolding && this.#isLive()) this.#unread = true;
    this.#top = scroller.scrollTop;
    this.#height = scroller.scrollHeight;
  }
}
