// Keeping the newest words in sight, for as long as the reader wants it. Growing content never moves a reader who
// has scrolled up; coming back to the bottom, or sending, follows again.

const NEAR = 24;

export class Follower {
  #following = $state(true);
  #scroller: HTMLElement | null = null;
  #top = 0;
  #height = 0;

  get following(): boolean {
    return this.#following;
  }

  /** For `{@attach}` on the scrolling element; its first child is the content. */
  attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller;
    this.#following = true;
    const onScroll = () => this.#scrolled(scroller);
    // A wheel or finger that goes up wins over the growth of the same moment.
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && scroller.scrollTop > 0) this.#following = false;
    };
    // Whoever unfolds something wants to read that, not the end below it.
    const onClick = (event: MouseEvent) => {
      if (event.target instanceof Element && event.target.closest("[aria-expanded]")) this.#following = false;
    };
    const observer = new ResizeObserver(() => this.#settle());
    observer.observe(scroller);
    if (scroller.firstElementChild) observer.observe(scroller.firstElementChild);
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("wheel", onWheel, { passive: true });
    scroller.addEventListener("click", onClick, { capture: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", onScroll);
      scroller.removeEventListener("wheel", onWheel);
      scroller.removeEventListener("click", onClick, { capture: true });
      this.#scroller = null;
    };
  };

  /** Go to the newest words and stay with them. */
  jump(): void {
    this.#following = true;
    this.#settle();
  }

  /** Stay where the reader is. */
  leave(): void {
    this.#following = false;
  }

  #scrolled(scroller: HTMLElement): void {
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const shrank = scrollHeight < this.#height;
    if (scrollHeight - clientHeight - scrollTop <= NEAR) this.#following = true;
    // Upwards, and not because the content became shorter: that was the reader.
    else if (scrollTop < this.#top - 1 && !shrank) this.#following = false;
    this.#top = scrollTop;
    this.#height = scrollHeight;
  }

  #settle(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    if (this.#following) scroller.scrollTop = scroller.scrollHeight;
    else if (scroller.scrollHeight <= scroller.clientHeight + NEAR) this.#following = true;
    this.#top = scroller.scrollTop;
    this.#height = scroller.scrollHeight;
  }
}
