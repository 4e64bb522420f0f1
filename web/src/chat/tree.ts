// A tree of nodes that know only their parent; everything else is derived. Pure.

export interface Node {
  readonly id: string;
  readonly parent: string | null;
  /** Ascending in the order of creation; orders siblings. */
  readonly sequence: number;
}

export class Tree<N extends Node> {
  readonly #nodes = new Map<string, N>();
  readonly #children = new Map<string | null, N[]>();

  constructor(nodes: readonly N[]) {
    const sorted = [...nodes].sort((one, other) => one.sequence - other.sequence);
    for (const node of sorted) this.#nodes.set(node.id, node);
    for (const node of sorted) {
      const brothers = this.#children.get(node.parent);
      if (brothers) brothers.push(node);
      else this.#children.set(node.parent, [node]);
    }
  }

  get(id: string): N | undefined {
    return this.#nodes.get(id);
  }

  children(id: string | null): readonly N[] {
    return this.#children.get(id) ?? [];
  }

  /** The node and its alternatives, oldest first. */
  siblings(node: Node): readonly N[] {
    return this.children(node.parent);
  }

  /** From the root to `leaf`; empty if there is no such node. */
  path(leaf: string | null): N[] {
    const nodes: N[] = [];
    for (let node = leaf === null ? undefined : this.get(leaf); node; node = node.parent === null ? undefined : this.get(node.parent)) {
      nodes.push(node);
      // Damaged data could contain a cycle, which must not hang the page.
      if (nodes.length > this.#nodes.size) return [];
    }
    return nodes.reverse();
  }

  /** The most recently written leaf below `id`. */
  newestLeaf(id: string): string {
    let newest = this.get(id);
    const below = [...this.children(id)];
    for (let node = below.pop(); node; node = below.pop()) {
      const children = this.children(node.id);
      if (children.length > 0) below.push(...children);
      else if (!newest || newest.id === id || node.sequence >= newest.sequence) newest = node;
    }
    return newest?.id ?? id;
  }
}
