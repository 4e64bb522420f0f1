// The list of conversations, newest first, as far as it was read, and the commands on one or many of them. Kept in sync
// by the feed.
import { shell } from "../../language/en/shell/shell";
import { sidebar as words } from "../../language/en/chat/sidebar";
import type { TextStorage } from "../../settings/storage";
import type { Clock } from "../../wire/transport/clock";
import type { BulkAction, ConversationClient, View } from "../../wire/chat/conversations";
import type { FolderClient } from "../../wire/chat/folders";
import { type Answer, problemOf } from "../../wire/transport/http";
import type { Conversation } from "../../wire/chat/rows";
import type { WaitReason } from "../../wire/chat/runs";
import type { ListEvent } from "./feed";
import { Folders } from "./folders.svelte";
import { dateGroups, untilMidnight } from "./date_groups";
import { ALL, byAge, cursorAfterReload, loadedRows, mergePage, viewKey, withRows } from "./pagination";
import type { Notices } from "../announce/notices.svelte";
import { Selection } from "./selection.svelte";
import { type FolderNode, visibleNodes } from "./folder_tree";

/** Changes within this time (milliseconds) cause one reload. */
const RELOAD_DELAY_MS = 120;
const TITLE_LENGTH = 40;

export interface ListDependencies {
  readonly client: ConversationClient;
  readonly folders: FolderClient;
  readonly storage: TextStorage;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly notices: Notices;
  /** Conversations were deleted here. Returns whether one of them was open. */
  readonly onDeleted: (id: string) => boolean;
  /** The open conversation was restored. */
  readonly onRestored: (id: string) => void;
  /** Newer data about a conversation. */
  readonly onUpdated: (conversation: Conversation) => void;
}

/** A section of the list under a heading. */
export interface Section {
  /** "pinned", "temporary", a date group's key, or a folder's id. */
  readonly key: string;
  readonly node: FolderNode | null;
  readonly items: readonly Conversation[];
  /** A reply is running in a closed folder. */
  readonly busy: boolean;
  /** Not read to the end. */
  readonly more: boolean;
}

type Changes = Partial<Pick<Conversation, "title" | "archived" | "pinned" | "folder" | "tags">>;

export class ConversationList {
  readonly #deps: ListDependencies;
  readonly folders: Folders;
  /** Selected conversations; null outside selection mode. */
  selection = $state.raw<Selection | null>(null);
  #all = $state.raw<readonly Conversation[]>([]);
  #cursors = $state.raw<Readonly<Record<string, string | null>>>({});
  #view = $state.raw<View>(ALL);
  #waiting = $state.raw<Readonly<Record<string, WaitReason>>>({});
  #titling = $state.raw<ReadonlySet<string>>(new Set());
  #now = $state.raw(new Date(0));
  readonly #items = $derived(this.#all.filter(({ archived }) => !archived));
  readonly #sections = $derived.by(() => this.#stableSections());
  readonly #rows = $derived(this.#sections.flatMap(({ items }) => items));
  #lastSections: readonly Section[] = [];
  readonly #activeReads = new Set<string>();
  /** The latest read applied, by view: reads are numbered, so that an older answer that arrives later is dropped. */
  readonly #latestRead = new Map<string, number>();
  #readCount = 0;
  /** The last read that began before the server confirmed a change: it may have answered without it. */
  #lastReadBeforeChange = 0;
  /** Changes the server has not confirmed yet, by conversation, latest last. */
  readonly #pendingChanges = new Map<string, readonly Changes[]>();
  readonly #deletedIds = new Set<string>();
  #reloadScheduled = false;
  #cancelMidnight: (() => void) | null = null;

  constructor(deps: ListDependencies) {
    this.#deps = deps;
    this.folders = new Folders(deps.folders, deps.storage);
  }

  /** All known conversations that are not archived. */
  get items(): readonly Conversation[] {
    return this.#items;
  }

  get view(): View {
    return this.#view;
  }

  /** The current view as sections with headings. */
  get sections(): readonly Section[] {
    return this.#sections;
  }

  /** All visible rows from top to bottom. */
  get rows(): readonly Conversation[] {
    return this.#rows;
  }

  /** The current view was loaded. */
  get known(): boolean {
    return this.#cursors[viewKey(this.#view)] !== undefined;
  }

  /** Cursor of the next page; null if all of it was read. */
  get rest(): string | null {
    return this.#cursors[viewKey(this.#view)] ?? null;
  }

  get(id: string | null): Conversation | undefined {
    return this.#all.find((item) => item.id === id);
  }

  /** What the running reply of a conversation waits for. */
  waiting(id: string): WaitReason {
    return this.#waiting[id] ?? "";
  }

  /** A title is being generated. */
  isTitling(id: string): boolean {
    return this.#titling.has(id);
  }

  /** The next or previous visible conversation; of none, the first. */
  neighbour(id: string | null, step: 1 | -1): string | null {
    const at = this.#rows.findIndex((row) => row.id === id);
    return this.#rows[at < 0 && step < 0 ? -1 : at + step]?.id ?? null;
  }

  /** Enters selection mode. */
  choose(): Selection {
    return (this.selection ??= new Selection());
  }

  /** Shows the archived ones, or those with a tag; without arguments, all. */
  async show(view: Partial<View> = {}): Promise<void> {
    this.#view = { ...ALL, ...view };
    this.selection = null;
    await this.#read(this.#view);
  }

  /** Reloads the first page of the view and of open folders. */
  async load(): Promise<void> {
    this.#updateToday();
    // Wait for the folders: rows drawn before them would later jump into a folder, even under the pointer.
    const folders = this.folders.known ? null : this.folders.load();
    const inside = [...this.folders.open].map((folder) => this.#read({ ...ALL, folder }));
    await Promise.all([this.#read(this.#view, null, folders), ...inside]);
  }

  /** Reads the next page of the view, or of a folder. */
  async more(folder: string | null = null): Promise<void> {
    const view = folder === null ? this.#view : { ...ALL, folder };
    const before = this.#cursors[viewKey(view)] ?? null;
    if (before !== null) await this.#read(view, before);
  }

  async fold(folder: string, shut: boolean): Promise<void> {
    this.folders.fold(folder, shut);
    if (!shut) await this.#read({ ...ALL, folder });
  }

  handleEvent(event: ListEvent): void {
    switch (event.type) {
      case "removed":
        this.#remove([event.conversation]);
        return;
      case "run": {
        const { conversation, run, waiting = "", outcome = null } = event;
        this.#waiting = { ...this.#waiting, [conversation]: outcome === null ? waiting : "" };
        this.#change([conversation], { running: outcome === null ? run : null });
        // An unknown one has to be read, and one with a new answer may have moved in the list.
        if (outcome !== null || !this.get(conversation)) this.#onChanged(conversation);
        return;
      }
      case "reset":
        void this.folders.load();
        this.#scheduleLoad();
        return;
      case "changed":
        this.#onChanged(event.conversation);
    }
  }

  /** Adds or updates a conversation that was created or opened here. */
  add(conversation: Conversation): void {
    if (this.#deletedIds.has(conversation.id)) return;
    this.#all = [...this.#all.filter(({ id }) => id !== conversation.id), conversation].sort(byAge);
  }

  async rename(id: string, title: string): Promise<void> {
    const newTitle = title.trim();
    if (newTitle !== "" && newTitle !== this.get(id)?.title) await this.#update(id, { title: newTitle });
  }

  async tag(id: string, tags: readonly string[]): Promise<void> {
    await this.#update(id, { tags });
  }

  /** Generates a title with the model. */
  async retitle(id: string): Promise<void> {
    if (this.#titling.has(id)) return;
    this.#titling = new Set([...this.#titling, id]);
    const answer = await this.#deps.client.title(id);
    this.#titling = new Set([...this.#titling].filter((other) => other !== id));
    if (answer.kind !== "ok") return this.#reportProblem(answer);
    this.#change([id], { title: answer.value.title });
  }

  /** Stops the running reply of a conversation. */
  async stop(id: string): Promise<void> {
    const run = this.get(id)?.running;
    if (run) this.#reportProblem(await this.#deps.client.stop(run));
  }

  async pin(ids: string | readonly string[], pinned: boolean): Promise<void> {
    await this.#bulk([ids].flat(), pinned ? "pin" : "unpin", { pinned });
  }

  async archive(ids: string | readonly string[], archived: boolean): Promise<void> {
    const all = [ids].flat();
    const [verb, back] = archived ? (["archive", "unarchive"] as const) : (["unarchive", "archive"] as const);
    const message = words()[verb === "archive" ? "archived" : "unarchived"](this.#label(all));
    if (!(await this.#bulk(all, verb, { archived }))) return;
    this.#offerUndo(message, () => this.#bulk(all, back, { archived: !archived }));
  }

  /** Null moves them out of their folders. */
  async move(ids: string | readonly string[], folder: string | null): Promise<void> {
    const moving = [ids].flat().filter((id) => this.get(id)?.folder !== folder);
    const before = new Map<string | null, string[]>();
    for (const id of moving) {
      const old = this.get(id)?.folder ?? null;
      before.set(old, [...(before.get(old) ?? []), id]);
    }
    const name = folder === null ? "" : (this.folders.get(folder)?.name ?? "");
    const message = name === "" ? words().movedOut(this.#label(moving)) : words().moved(this.#label(moving), name);
    if (moving.length === 0 || !(await this.#bulk(moving, "move", { folder }))) return;
    this.#offerUndo(message, () => Promise.all([...before].map(([old, some]) => this.#bulk(some, "move", { folder: old }))));
  }

  async delete(ids: string | readonly string[]): Promise<void> {
    const all = [ids].flat();
    const message = words().deleted(this.#label(all));
    for (const id of all) this.#deletedIds.add(id);
    this.#remove(all);
    const open = all.filter((id) => this.#deps.onDeleted(id));
    if (await this.#bulk(all, "delete")) return this.#offerUndo(message, () => this.#restore(all, open));
    for (const id of all) this.#deletedIds.delete(id);
    await this.load();
  }

  async #restore(ids: readonly string[], open: readonly string[]): Promise<void> {
    for (const id of ids) this.#deletedIds.delete(id);
    const isRestored = await this.#bulk(ids, "restore");
    await this.load();
    if (isRestored) open.forEach(this.#deps.onRestored);
  }

  /** The current sections. Unchanged ones keep their identity, so that they are not redrawn. */
  #stableSections(): readonly Section[] {
    const before = new Map(this.#lastSections.map((section) => [section.key, section]));
    this.#lastSections = this.#buildSections().map((section) => {
      const old = before.get(section.key);
      return old && isSame(old, section) ? old : section;
    });
    return this.#lastSections;
  }

  #buildSections(): Section[] {
    const view = this.#view;
    const visible = loadedRows(this.#all, view, this.rest);
    const isPlain = viewKey(view) === viewKey(ALL);
    const section = (key: string, items: readonly Conversation[]): Section => ({ key, node: null, items, busy: false, more: false });
    const temporary = this.selection ? [] : this.#all.filter((item) => item.temporary);
    const nodes = isPlain ? visibleNodes(this.folders.nodes, this.folders.open).map((node) => this.#folderSection(node)) : [];
    const loose = visible.filter(({ pinned, folder }) => !pinned && !(isPlain && this.folders.has(folder)));
    return [
      section("temporary", isPlain ? temporary : []),
      section("pinned", visible.filter(({ pinned }) => pinned)),
      ...nodes,
      ...dateGroups(loose, this.#now).map(({ key, items }) => section(key, items)),
    ].filter(({ node, items }) => node !== null || items.length > 0);
  }

  #folderSection(node: FolderNode): Section {
    const { id } = node.folder;
    const view = { ...ALL, folder: id };
    const rest = this.#cursors[viewKey(view)] ?? null;
    const all = loadedRows(this.#all, view, rest).filter(({ pinned }) => !pinned);
    const open = this.folders.open.has(id);
    return { key: id, node, items: open ? all : [], busy: !open && all.some(({ running }) => running !== null), more: open && rest !== null };
  }

  /** Reads the first page of a view, or the one after `before`; applies it once `other` is done. */
  async #read(view: View, before: string | null = null, other: Promise<void> | null = null): Promise<void> {
    const key = viewKey(view);
    const reading = `${key} ${before}`;
    if (before !== null && this.#activeReads.has(reading)) return;
    this.#activeReads.add(reading);
    let number: number;
    let answer: Awaited<ReturnType<ConversationClient["list"]>>;
    do {
      number = ++this.#readCount;
      [answer] = await Promise.all([this.#deps.client.list(view, before), other]);
    } while (answer.kind === "ok" && number <= this.#lastReadBeforeChange);
    this.#activeReads.delete(reading);
    // The list may have been reloaded from its start meanwhile; this page would leave a gap.
    if (answer.kind !== "ok" || (before !== null && this.#cursors[key] !== before)) return;
    if (before === null && number < (this.#latestRead.get(key) ?? 0)) return;
    this.#latestRead.set(key, number);
    const conversations = answer.value.conversations.filter(({ id }) => !this.#deletedIds.has(id)).map((one) => Object.assign({}, one, ...(this.#pendingChanges.get(one.id) ?? [])) as Conversation);
    const page = { conversations, next: answer.value.next };
    const cursor = before === null ? cursorAfterReload(this.#all, view, page, this.#cursors[key]) : page.next;
    const changing = this.#all.filter(({ id }) => this.#pendingChanges.has(id) && !this.#deletedIds.has(id));
    this.#all = withRows(mergePage(this.#all, view, page, before), changing);
    this.#cursors = { ...this.#cursors, [key]: cursor };
    for (const conversation of conversations) this.#deps.onUpdated(conversation);
  }

  /** Changes one optimistically and reverts if the server refuses. */
  async #update(id: string, changes: Changes): Promise<void> {
    const before = this.get(id);
    if (!before) return;
    const answer = await this.#optimistically([id], changes, () => this.#deps.client.change(id, changes));
    if (answer.kind === "ok") return;
    this.#change([id], Object.fromEntries(Object.keys(changes).map((name) => [name, before[name as keyof Changes]])));
    this.#reportProblem(answer);
  }

  /** Changes many optimistically. Returns whether the server did. */
  async #bulk(ids: readonly string[], verb: BulkAction, changes: Changes = {}): Promise<boolean> {
    const answer = await this.#optimistically(ids, changes, () => this.#deps.client.bulk(ids, verb, changes.folder));
    if (answer.kind === "ok") return true;
    this.#reportProblem(answer);
    await this.load();
    return false;
  }

  /** Shows the changes until the answer, whatever is read from the server meanwhile. */
  async #optimistically(ids: readonly string[], changes: Changes, ask: () => Promise<Answer<unknown>>): Promise<Answer<unknown>> {
    for (const id of ids) this.#pendingChanges.set(id, [...(this.#pendingChanges.get(id) ?? []), changes]);
    this.#change(ids, changes);
    const answer = await ask();
    for (const id of ids) {
      const others = this.#pendingChanges.get(id)?.filter((other) => other !== changes) ?? [];
      if (others.length > 0) this.#pendingChanges.set(id, others);
      else this.#pendingChanges.delete(id);
    }
    this.#lastReadBeforeChange = this.#readCount;
    return answer;
  }

  #change(ids: readonly string[], changes: Partial<Conversation>): void {
    const targets = new Set(ids);
    this.#all = this.#all.map((item) => (targets.has(item.id) ? { ...item, ...changes } : item));
    for (const item of this.#all) if (targets.has(item.id)) this.#deps.onUpdated(item);
  }

  #remove(ids: readonly string[]): void {
    const removed = new Set(ids);
    this.#all = this.#all.filter(({ id }) => !removed.has(id));
    this.selection?.remove(removed);
  }

  /** Temporary conversations are in no list of the server and are read by themselves. */
  #onChanged(id: string): void {
    if (!this.get(id)?.temporary) return this.#scheduleLoad();
    void this.#deps.client.open(id).then((answer) => {
      if (answer.kind !== "ok") return;
      this.add(answer.value.conversation);
      this.#deps.onUpdated(answer.value.conversation);
    });
  }

  #scheduleLoad(): void {
    if (this.#reloadScheduled) return;
    this.#reloadScheduled = true;
    this.#deps.clock.after(RELOAD_DELAY_MS, () => {
      this.#reloadScheduled = false;
      void this.load();
    });
  }

  /** Regroups the list at midnight. */
  #updateToday(): void {
    this.#cancelMidnight?.();
    this.#now = new Date(this.#deps.wall());
    this.#cancelMidnight = this.#deps.clock.after(untilMidnight(this.#now) + 1000, () => this.#updateToday());
  }

  /** One by its title, several by their number. */
  #label(ids: readonly string[]): string {
    if (ids.length !== 1) return words().chats(ids.length);
    return words().quoted(shortened(this.get(ids[0]!)?.title || words().untitled));
  }

  #offerUndo(text: string, undo: () => Promise<unknown>): void {
    const { notices } = this.#deps;
    const run = () => {
      notices.clear();
      void undo();
    };
    notices.show(text, { label: shell().undo, run });
  }

  #reportProblem(answer: Answer<unknown>): void {
    if (answer.kind !== "ok") this.#deps.notices.show(problemOf(answer));
  }
}

function shortened(title: string): string {
  return title.length <= TITLE_LENGTH ? title : `${title.slice(0, TITLE_LENGTH).trimEnd()}…`;
}

function isSame(one: Section, other: Section): boolean {
  const { items } = other;
  if (one.node !== other.node || one.busy !== other.busy || one.more !== other.more || one.items.length !== items.length) return false;
  return one.items.every((item, index) => item === items[index]);
}
