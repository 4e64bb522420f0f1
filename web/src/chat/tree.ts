// The shape of a conversation: turns that know only their parent, and which child is shown where several are. Pure;
// knows nothing of what a turn says.

export interface Node {
  readonly id: string;
  readonly parent: string | null;
}

/** Shown child by parent id; the key "" stands for the conversation's first turn. */
export type Choice = Readonly<Record<string, string>>;

export function childrenOf<N extends Node>(nodes: readonly N[], parent: string | null): N[] {
  return nodes.filter((node) => node.parent === parent);
}

/** From the first turn to the last one shown; where no child was chosen, the newest is shown. */
export function path<N extends Node>(nodes: readonly N[], choice: Choice): N[] {
  const children = new Map<string, N[]>();
  for (const node of nodes) {
    const key = node.parent ?? "";
    const brothers = children.get(key);
    if (brothers) brothers.push(node);
    else children.set(key, [node]);
  }
  const shown: N[] = [];
  for (let key = ""; ; ) {
    const brothers = children.get(key);
    const next = brothers?.find((node) => node.id === choice[key]) ?? brothers?.at(-1);
    if (!next) return shown;
    shown.push(next);
    key = next.id;
  }
}

/** The choice that shows `node` in place of its siblings. */
export function choose(choice: Choice, node: Node): Choice {
  return { ...choice, [node.parent ?? ""]: node.id };
}

/** Without `node` and everything below it. */
export function prune<N extends Node>(nodes: readonly N[], node: Node): N[] {
  const gone = new Set([node.id]);
  // Children always come after their parent.
  return nodes.filter((other) => {
    if (other.parent !== null && gone.has(other.parent)) gone.add(other.id);
    return !gone.has(other.id);
  });
}
