// The server's copy of what is being typed: sent a moment after the last key, taken where another device was later.
// This browser's own copy is the first and the immediate one, so nothing here may ever cost a letter: of two that
// differ the newer is shown, and the other can be brought back. Owns which copy is the newer.
import { composer as words } from "../../language/en/composer";
import type { TextStorage } from "../../settings/shelf";
import type { Clock } from "../../wire/transport/clock";
import { type DraftClient, type StoredDraft, NEW_CONVERSATION } from "../../wire/drafts";
import { type Attachments, attachmentsOf } from "./attachments.svelte";
import { type Draft, draftKey, type DraftWatcher } from "./draft.svelte";
import type { FeedEvent } from "../list/feed";
import type { Notices } from "../announce/notices.svelte";

const MARK = "duologue.draft.mark";
/** Milliseconds after the last key. */
const SETTLE = 1000;

/** How this browser's copy stands to the server's. */
interface Mark {
  /** The server's copy that this one is, or was made of; 0 is none. */
  readonly base: number;
  /** It was changed since. */
  readonly dirty: boolean;
  /** When it was, by this machine's clock. */
  readonly at: number;
}

export interface DraftDependencies {
  readonly client: DraftClient;
  readonly clock: Clock;
  /** The time of day, milliseconds since 1970. */
  readonly wall: () => number;
  readonly storage: TextStorage;
  readonly draft: Draft;
  readonly attachments: Attachments;
  /** The one that is looked at when the keeper comes. */
  readonly conversation: string | null;
  readonly notices: Notices;
  /** Whether the server may keep it at all: not of a chat that is to be temporary. */
  readonly keeps: () => boolean;
}

export class DraftKeeper implements DraftWatcher {
  readonly #deps: DraftDependencies;
  #conversation: string | null;
  #mark: Mark;
  /** Counts what is typed. */
  #edition = 0;
  #taking = false;
  /** The server was there. */
  #awake = false;
  /** What the server has of this conversation was seen: nothing is put over a copy that nobody looked at. */
  #known = false;
  #saving = 0;
  #line: Promise<void> = Promise.resolve();
  /** What the feed said last, until it was looked at. */
  #heard: number | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(deps: DraftDependencies) {
    this.#deps = deps;
    this.#conversation = deps.conversation;
    this.#mark = this.#marked(deps.conversation);
    if (deps.draft.unheard) this.#mark = { ...this.#mark, dirty: true, at: deps.wall() };
    deps.draft.watcher = this;
    deps.attachments.changed = () => this.changed();
  }

  changed(): void {
    if (this.#taking) return;
    this.#edition++;
    this.#put({ ...this.#mark, dirty: true, at: this.#deps.wall() });
    this.#soon();
  }

  leaving(): void {
    this.#cancelTimer?.();
    if (this.#mark.dirty && this.#known) void this.#save();
  }

  turned(conversation: string | null): void {
    this.#conversation = conversation;
    this.#mark = this.#marked(conversation);
    this.#heard = null;
    this.#known = false;
    this.#edition++;
    if (this.#awake) void this.#read();
  }

  became(conversation: string): void {
    this.#cancelTimer?.();
    const { base } = this.#mark;
    const begun = this.#deps.keeps() && (base > 0 || this.#saving > 0);
    this.#deps.storage.put(MARK, null);
    if (begun) this.#line = this.#line.then(async () => void (await this.#deps.client.drop(NEW_CONVERSATION)));
    this.#conversation = conversation;
    this.#edition++;
    this.#heard = null;
    this.#known = true;
    this.#put({ base: 0, dirty: !isEmpty(this.#copy()), at: this.#deps.wall() });
    if (this.#mark.dirty) this.#soon();
  }

  forgotten(conversation: string): void {
    this.#deps.storage.put(draftKey(MARK, conversation), null);
  }

  givenBack(conversation: string | null): void {
    const mark: Mark = { ...this.#marked(conversation), dirty: true, at: this.#deps.wall() };
    this.#deps.storage.put(draftKey(MARK, conversation), JSON.stringify(mark));
  }

  /** The server can be asked, now or again. */
  resume(): void {
    this.#awake = true;
    void this.#read();
  }

  /** The page may go away: what is not there yet goes there by a request that outlives it. */
  flush(): void {
    if (!this.#mark.dirty || !this.#known) return;
    this.#cancelTimer?.();
    void this.#save(true);
  }

  async settle(): Promise<void> {
    this.#cancelTimer?.();
    if (this.#mark.dirty && this.#known) await this.#save();
    else await this.#line;
  }

  /** What the feed says. */
  heard(event: FeedEvent): void {
    if (event.type === "reset") return void this.#read();
    if (event.type !== "draft" || event.conversation !== (this.#conversation ?? NEW_CONVERSATION)) return;
    this.#heard = event.updated;
    this.#lookAgain();
  }

  #lookAgain(): void {
    if (this.#saving > 0 || this.#mark.dirty || this.#heard === null) return;
    const news = this.#heard !== this.#mark.base;
    this.#heard = null;
    if (news) void this.#read();
  }

  #soon(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#deps.clock.after(SETTLE, () => void this.#save());
  }

  #copy(): StoredDraft {
    const { draft, attachments } = this.#deps;
    return { text: draft.text, files: attachments.items.filter(({ stage }) => stage === "kept") };
  }

  /** One after the other, so that the last one is what stays; but not where the page is going. */
  async #save(leaving = false): Promise<void> {
    if (!this.#deps.keeps()) return;
    if (!this.#known) return this.#read();
    const [conversation, edition, copy, mark] = [this.#conversation, this.#edition, this.#copy(), this.#mark];
    if (isEmpty(copy) && mark.base === 0 && this.#saving === 0) return this.#put({ ...mark, dirty: false });
    this.#saving++;
    const before = this.#line;
    const sent = (async () => {
      if (!leaving) await before;
      const updated = await this.#send(conversation ?? NEW_CONVERSATION, copy, leaving);
      this.#saving--;
      if (updated === null) return;
      if (conversation !== this.#conversation) {
        this.#deps.storage.put(draftKey(MARK, conversation), JSON.stringify({ ...mark, base: updated, dirty: false }));
        return;
      }
      this.#put({ ...this.#mark, base: updated, dirty: edition !== this.#edition });
      if (this.#mark.dirty) this.#soon();
      else this.#lookAgain();
    })();
    this.#line = sent;
    await sent;
  }

  /** When it was kept; 0 where nothing is, null where that failed. */
  async #send(conversation: string, copy: StoredDraft, leaving: boolean): Promise<number | null> {
    const { client } = this.#deps;
    if (isEmpty(copy)) return (await client.drop(conversation, leaving)).kind === "ok" ? 0 : null;
    const answer = await client.put(conversation, copy, leaving);
    return answer.kind === "ok" ? (answer.value.updated ?? 0) : null;
  }

  async #read(): Promise<void> {
    if (!this.#deps.keeps()) return;
    const [conversation, edition] = [this.#conversation, this.#edition];
    const answer = await this.#deps.client.read(conversation ?? NEW_CONVERSATION);
    if (answer.kind !== "ok" || conversation !== this.#conversation || this.#saving > 0) return;
    this.#known = true;
    const { text = "", files = [], updated = 0 } = answer.value;
    this.#compare({ text, files, updated }, edition !== this.#edition);
  }

  /** `typed`: something was, while the server was asked. */
  #compare(theirs: Required<StoredDraft>, typed: boolean): void {
    const ours = this.#copy();
    const { base, dirty, at } = this.#mark;
    this.#heard = null;
    if (theirs.updated === base || isSame(ours, theirs)) {
      this.#put({ base: theirs.updated, dirty: dirty && !isSame(ours, theirs), at });
      if (this.#mark.dirty) this.#soon();
    } else if (!dirty || (!typed && theirs.updated > at)) {
      this.#take(theirs);
      if (dirty && !isEmpty(ours)) this.#offer(words().newerDraft, words().bringBack, ours);
    } else {
      this.#put({ base: theirs.updated, dirty, at });
      this.#soon();
      if (!isEmpty(theirs)) this.#offer(words().otherDraft, words().takeOther, theirs);
    }
  }

  #take({ text, files, updated }: Required<StoredDraft>): void {
    this.#write({ text, files });
    this.#edition++;
    this.#put({ base: updated, dirty: false, at: this.#deps.wall() });
  }

  #write({ text, files }: StoredDraft): void {
    const { draft, attachments } = this.#deps;
    this.#taking = true;
    draft.text = text;
    attachments.replace(attachmentsOf(files));
    this.#taking = false;
  }

  #offer(sentence: string, label: string, other: StoredDraft): void {
    const { notices } = this.#deps;
    const conversation = this.#conversation;
    const run = () => {
      notices.clear();
      if (conversation !== this.#conversation) return;
      this.#write(other);
      this.changed();
    };
    notices.show(sentence, { label, run });
  }

  #put(mark: Mark): void {
    this.#mark = mark;
    const nothing = mark.base === 0 && !mark.dirty;
    this.#deps.storage.put(draftKey(MARK, this.#conversation), nothing ? null : JSON.stringify(mark));
  }

  #marked(conversation: string | null): Mark {
    try {
      const kept = JSON.parse(this.#deps.storage.get(draftKey(MARK, conversation)) ?? "null") as Partial<Mark> | null;
      if (kept) return { base: Number(kept.base) || 0, dirty: kept.dirty === true, at: Number(kept.at) || 0 };
    } catch {
      // Not written by us.
    }
    // What an earlier version kept is as if it was typed now.
    const { draft, storage } = this.#deps;
    const files = storage.get(draftKey("duologue.files", conversation)) !== null;
    return { base: 0, dirty: draft.text !== "" || files, at: this.#deps.wall() };
  }
}

function isEmpty({ text, files }: StoredDraft): boolean {
  return text === "" && files.length === 0;
}

function isSame(one: StoredDraft, other: StoredDraft): boolean {
  const hashes = ({ files }: StoredDraft) => attachmentsOf(files).map(({ blob, name, given }) => `${blob} ${name} ${given}`);
  return one.text === other.text && hashes(one).join() === hashes(other).join();
}
