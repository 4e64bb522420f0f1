// The page's copy of one conversation: its rows, and which branch of them is shown. A row's content changes while it
// is written, and only what draws that row has to know. Owns no command and no connection.
import { filesOf, type Message, textOf } from "../wire/rows";
import { newestVersion } from "../wire/runs";
import { Tree } from "./tree";
import { type Turn as TurnOf, turnsOf } from "./turns";

export type Turn = TurnOf<Row>;
export type ReplyTurn = Extract<Turn, { kind: "reply" }>;

/** Newer than anything the server has numbered. */
const NEWEST = Number.MAX_SAFE_INTEGER;

export class Row {
  readonly id: string;
  readonly parent: string | null;
  readonly role: Message["role"];
  readonly kind: Message["kind"];
  readonly sequence: number;
  message: Message = $state.raw() as Message;
  /** How long the model thought, milliseconds; null where nobody watched. */
  thinkingMs = $state.raw<number | null>(null);

  /** `key` is what the row is drawn under: it stays when the server gives a row made here its own id. */
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

  /** Made here, and not (yet) known to the server. */
  get isLocal(): boolean {
    return this.sequence === NEWEST;
  }

  get text(): string {
    return textOf(this.message.content);
  }
}

/** Whether a model turn has anything of its own that is worth keeping. */
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

  /** The rows of the branch that is shown. */
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

  /** Show the branch that `row` is on. */
  show(row: Row): void {
    this.#leaf = this.#tree.newestLeaf(row.id);
  }

  /** What the server has, in place of what is here. Rows that stay keep their place on the page. */
  load(messages: readonly Message[], leaf: string | null): void {
    this.#rows = messages.map((message) => this.#rowFor(message));
    this.#leaf = leaf !== null && this.#tree.get(leaf) ? leaf : this.#newest();
  }

  /** A row as it is now. A new one is shown; `inPlaceOf` was made here while the server was asked for it. */
  put(message: Message, inPlaceOf: Row | null = null): Row {
    const known = this.get(message.id);
    const row = this.#rowFor(message, inPlaceOf?.key);
    if (row === known) return row;
    this.#rows = [...this.#rows.filter((other) => other !== known && other !== inPlaceOf), row];
    if (!known || inPlaceOf) this.#leaf = row.id;
    return row;
  }

  /** A row that stands above those that are shown; which branch that is stays as it is. */
  insertAbove(message: Message): void {
    if (!this.get(message.id)) this.#rows = [...this.#rows, new Row(message)];
  }

  /** Take rows away and everything below them. */
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
    const known = this.get(message.id);
    if (!known) return new Row(message, key);
    const next = newestVersion(known.message, message);
    // Moved, or numbered by now: another row on the same place of the page.
    if (known.parent !== message.parent || (message.sequence !== 0 && known.sequence !== message.sequence)) {
      const row = new Row(next, known.key);
      row.thinkingMs = known.thinkingMs;
      return row;
    }
    known.message = next;
    return known;
  }
}
