// Keeping the newest words in sight, for as long as the reader wants it. Growing content never moves a reader who
// has scrolled up; coming back to the bottom, or sending, follows again. Any wheel, key or finger that goes up lets go.

const NEAR = 24;
/** Milliseconds until what was unfolded is drawn. */
const SETTLED = 250;
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);

export class Follower {
  readonly #lives: () => boolean;
  #following = $state(true);
  #unread = $state(false);
  #scroller: HTMLElement | null = null;
  #top = 0;
  #height = 0;
  #finger = 0;
  /** What grows next grows because the reader unfolded it. */
  #unfolds = false;

  /** `lives`: what grows now is news. */
  constructor(lives: () => boolean = () => true) {
    this.#lives = lives;
  }

  get following(): boolean {
    return this.#following;
  }

  /** Something was written below what the reader sees. */
  get unread(): boolean {
    return this.#unread && !this.#following;
  }

  /** For `{@attach}` on the scrolling element; its first child is the content. */
  attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller;
    this.#following = true;
    this.#unread = false;
    const onScroll = () => this.#scrolled(scroller);
    // A wheel or finger that goes up wins over the growth of the same moment.
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0) this.#letGo(scroller);
    };
    const onTouchStart = (event: TouchEvent) => (this.#finger = event.touches[0]?.clientY ?? 0);
    const onTouchMove = (event: TouchEvent) => {
      const finger = event.touches[0]?.clientY ?? 0;
      if (finger > this.#finger + 2) this.#letGo(scroller);
      this.#finger = finger;
    };
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof Element && event.target.closest("textarea, input, select") !== null;
      if (!typing && (UPWARDS.has(event.key) || (event.key === " " && event.shiftKey))) this.#letGo(scroller);
    };
    // Whoever unfolds something, or looks at another version, wants to read that, not the end below it.
    const onClick = (event: MouseEvent) => {
      if (!(event.target instanceof Element) || !event.target.closest("[aria-expanded]:not([aria-haspopup]), [data-stays]")) return;
      this.#unfolds = true;
      // What is drawn by then was not unfolded.
      setTimeout(() => (this.#unfolds = false), SETTLED);
    };
    const observer = new ResizeObserver(() => this.#settle());
    observer.observe(scroller);
    if (scroller.firstElementChild) observer.observe(scroller.firstElementChild);
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("wheel", onWheel, { passive: true });
    scroller.addEventListener("touchstart", onTouchStart, { passive: true });
    scroller.addEventListener("touchmove", onTouchMove, { passive: true });
    scroller.addEventListener("keydown", onKey);
    scroller.addEventListener("click", onClick, { capture: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", onScroll);
      scroller.removeEventListener("wheel", onWheel);
      scroller.removeEventListener("touchstart", onTouchStart);
      scroller.removeEventListener("touchmove", onTouchMove);
      scroller.removeEventListener("keydown", onKey);
      scroller.removeEventListener("click", onClick, { capture: true });
      this.#scroller = null;
    };
  };

  /** Go to the newest words and stay with them. */
  jump(): void {
    this.#following = true;
    this.#unread = false;
    this.#settle();
  }

  /** Stay where the reader is. */
  leave(): void {
    this.#following = false;
  }

  #letGo(scroller: HTMLElement): void {
    if (scroller.scrollTop > 0) this.#following = false;
  }

  #scrolled(scroller: HTMLElement): void {
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const shrank = scrollHeight < this.#height;
    if (scrollHeight - clientHeight - scrollTop <= NEAR) {
      // Told late of a place it was brought to before, a reader who has just let go is not caught again.
      if (scrollTop > this.#top || shrank) this.#following = true;
      if (this.#following) this.#unread = false;
    }
    // Upwards, and not because the content became shorter: that was the reader.
    else if (scrollTop < this.#top - 1 && !shrank) this.#following = false;
    this.#top = scrollTop;
    this.#height = scrollHeight;
  }

  #settle(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    if (this.#unfolds) this.#following = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= NEAR;
    if (this.#following) scroller.scrollTop = scroller.scrollHeight;
    else if (scroller.scrollHeight <= scroller.clientHeight + NEAR) this.#following = true;
    else if (scroller.scrollHeight > this.#height + 1 && !this.#unfolds && this.#lives()) this.#unread = true;
    this.#top = scroller.scrollTop;
    this.#height = scroller.scrollHeight;
  }
}
