// The ids of selected conversations.

export class Selection {
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  #last: string | null = null;

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  get count(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Toggles one; with `range`, everything between the last toggled one and it, in the order `shown`. */
  toggle(id: string, range = false, shown: readonly string[] = []): void {
    const ids = new Set(this.#ids);
    const chosen = !ids.has(id);
    const [from, to] = [shown.indexOf(this.#last ?? ""), shown.indexOf(id)].sort((one, other) => one - other) as [number, number];
    for (const other of range && from >= 0 ? shown.slice(from, to + 1) : [id]) {
      if (chosen) ids.add(other);
      else ids.delete(other);
    }
    this.#ids = ids;
    this.#last = id;
  }

  set(ids: Iterable<string>): void {
    this.#ids = new Set(ids);
  }

  /** Removes conversations that no longer exist. */
  remove(removed: ReadonlySet<string>): void {
    if ([...this.#ids].some((id) => removed.has(id))) this.#ids = new Set([...this.#ids].filter((id) => !removed.has(id)));
  }
}
