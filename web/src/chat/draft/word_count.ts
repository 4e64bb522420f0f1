// Counts the words of a growing text. Each update reads only the new part.

export class WordCount {
  #length = 0;
  #words = 0;
  #inside = false;

  /** The count of `text`, which extends the previous one; if it does not, counting starts over. */
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
