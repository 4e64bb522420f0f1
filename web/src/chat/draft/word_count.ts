// How many words a growing text has. A pure machine: each update reads only what was added.

export class WordCount {
  #length = 0;
  #words = 0;
  #inside = false;

  /** The count of `text`, which begins with what it was before; else it is counted anew. */
  update(text: string): number {
    if (text.length < this.#length) {
      this.#length = this.#words = 0;
      this.#inside = false;
    }
    for (let place = this.#length; place < text.length; place++) {
      const blank = /\s/.test(text[place]!);
      if (!blank && !this.#inside) this.#words++;
      this.#inside = !blank;
    }
    this.#length = text.length;
    return this.#words;
  }
}
