// The page's copy of one conversation: its messages as rows and the branch that is shown. A row's content is its own
// reactive state, so a growing message redraws only itself.
import { type FittedMedia, filesOf, type Message, textOf } from "../wire/chat/rows";
import { newestVersion } from "../wire/chat/runs";
import { Tree } from "./tree";
import { type Turn as TurnOf, turnsOf } from "./turns";

export type Turn = TurnOf<Row>;
export type ReplyTurn = Extract<Turn, { kind: "reply" }>;

/** Sorts after everything the server has numbered. */
const NEWEST = Number.MAX_SAFE_INTEGER;

export class Row {
  readonly id: string;
  readonly parent: string | null;
  readonly role: Message["role"];
  readonly kind: Message["kind"];
  readonly sequence: number;
  message: Message = $state.raw() as Message;
  /** Duration of the reasoning in milliseconds; null if it was not observed. */
  thinkingMs = $state.raw<number | null>(null);

  /** `key` identifies the row's component: it stays when the server replaces a local row with its own. */
  constructor(
    message: Message,
    readonly key: string = message.id,
  ) {
    this.id = message.id;
    this.parent = message.parent;
    this.role = message.role;
    this.kind = message.kind;
    this.sequence = message.sequence || NEWEST;
    this.message = message;
  }

  /** Not yet stored on the server. */
  get isLocal(): boolean {
    return this.sequence === NEWEST;
  }

  get text(): string {
    return textOf(this.message.content);
  }

  get fitted(): FittedMedia | null {
    return this.message.fitted;
  }
}

/** Whether a model turn produced anything worth keeping. */
export function hasOutput({ content, reasoning, tool_calls: calls }: Message): boolean {
  return textOf(content) !== "" || reasoning !== "" || calls.length > 0 || filesOf(content).length > 0;
}

export class Thread {
  #rows = $state.raw<readonly Row[]>([]);
  #leaf = $state.raw<string | null>(null);
  readonly #tree = $derived(new Tree(this.#rows));
  readonly #path = $derived(this.#tree.path(this.#leaf));
  readonly #turns = $derived(turnsOf(this.#path));

  get leaf(): string | null {
    return this.#leaf;
  }

  /** Rows of the branch in view. */
  get path(): readonly Row[] {
    return this.#path;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  get(id: string): Row | undefined {
    return this.#tree.get(id);
  }

  /** The row and its alternatives, oldest first. */
  versions(row: Row): readonly Row[] {
    return this.#tree.siblings(row);
  }

  /** Shows the newest branch through `row`. */
  show(row: Row): void {
    this.#leaf = this.#tree.newestLeaf(row.id);
  }

  /** Replaces all rows with the server's. Rows that already exist keep their component. */
  load(messages: readonly Message[], leaf: string | null): void {
    this.#rows = messages.map((message) => this.#rowFor(message));
    this.#leaf = leaf !== null && this.#tree.get(leaf) ? leaf : this.#newest();
  }

  /** Adds or updates a row. A new one becomes the leaf; `inPlaceOf` is the local placeholder it replaces. */
  put(message: Message, inPlaceOf: Row | null = null): Row {
    const current = this.get(message.id);
    const row = this.#rowFor(message, inPlaceOf?.key);
    if (row === current) return row;
    this.#rows = [...this.#rows.filter((other) => other !== current && other !== inPlaceOf), row];
    if (!current || inPlaceOf) this.#leaf = row.id;
    return row;
  }

  /** Adds a row above the visible ones without changing the branch. */
  insertAbove(message: Message): void {
    if (!this.get(message.id)) this.#rows = [...this.#rows, new Row(message)];
  }

  /** Removes rows and their descendants. */
  remove(ids: Iterable<string>, leaf: string | null = null): void {
    const removed = new Set(ids);
    for (const row of [...removed]) this.#collectDescendants(row, removed);
    const parent = [...this.#path].reverse().find((row) => !removed.has(row.id));
    this.#rows = this.#rows.filter((row) => !removed.has(row.id));
    if (this.#leaf === null || !removed.has(this.#leaf)) return;
    this.#leaf = leaf ?? (parent ? this.#tree.newestLeaf(parent.id) : this.#newest());
  }

  clear(): void {
    this.#rows = [];
    this.#leaf = null;
  }

  #collectDescendants(id: string, ids: Set<string>): void {
    for (const child of this.#tree.children(id)) {
      ids.add(child.id);
      this.#collectDescendants(child.id, ids);
    }
  }

  #newest(): string | null {
    const first = this.#tree.children(null).at(-1);
    return first ? this.#tree.newestLeaf(first.id) : null;
  }

  #rowFor(message: Message, key?: string): Row {
    const current = this.get(message.id);
    if (!current) return new Row(message, key);
    const next = newestVersion(current.message, message);
    // Its parent or number changed: a new row under the same key, since those fields are immutable.
    if (current.parent !== message.parent || (message.sequence !== 0 && current.sequence !== message.sequence)) {
      const row = new Row(next, current.key);
      row.thinkingMs = current.thinkingMs;
      return row;
    }
    current.message = next;
    return current;
  }
}
