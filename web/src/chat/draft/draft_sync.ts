// Keeps the server's copy of the draft in sync: saved shortly after the last key, read when another device wrote later.
// The browser's copy is authoritative, so that no keystroke is ever lost: if both differ, the newer one is shown and
// the other is offered for restoring.
import { composer as words } from "../../language/en/chat/composer";
import type { TextStorage } from "../../settings/storage";
import type { Clock } from "../../wire/transport/clock";
import { type DraftClient, NEW_CONVERSATION, type StoredDraft } from "../../wire/chat/drafts";
import { type Attachments, attachmentsOf } from "./attachments.svelte";
import { type Draft, draftKey, type DraftObserver } from "./draft.svelte";
import type { FeedEvent } from "../list/feed";
import type { Notices } from "../announce/notices.svelte";

const MARK_KEY = "duologue.draft.mark";
/** Milliseconds after the last keystroke. */
const SAVE_DELAY_MS = 1000;

/** How the local copy relates to the server's. */
interface SyncMark {
  /** `updated` of the server copy this one equals or was edited from; 0 is none. */
  readonly base: number;
  /** Edited since then. */
  readonly dirty: boolean;
  /** When, by this machine's clock. */
  readonly at: number;
}

export interface DraftDependencies {
  readonly client: DraftClient;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly storage: TextStorage;
  readonly draft: Draft;
  readonly attachments: Attachments;
  /** The conversation open when syncing starts. */
  readonly conversation: string | null;
  readonly notices: Notices;
  /** Whether the server may store the draft: not of a temporary chat. */
  readonly mayStore: () => boolean;
}

export class DraftSync implements DraftObserver {
  readonly #deps: DraftDependencies;
  #conversation: string | null;
  #mark: SyncMark;
  /** Counts edits, to notice typing during a request. */
  #revision = 0;
  #applying = false;
  /** The server has been reachable. */
  #online = false;
  /** The server's copy of this conversation was read. Until then nothing is saved, or it would overwrite an unseen
   * copy. */
  #remoteSeen = false;
  #savesInFlight = 0;
  #lastSave: Promise<void> = Promise.resolve();
  /** `updated` of a change announced by the feed and not read yet. */
  #announcedUpdate: number | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(deps: DraftDependencies) {
    this.#deps = deps;
    this.#conversation = deps.conversation;
    this.#mark = this.#storedMark(deps.conversation);
    if (deps.draft.changedUnobserved) this.#mark = { ...this.#mark, dirty: true, at: deps.wall() };
    deps.draft.observer = this;
    deps.attachments.changed = () => this.draftChanged();
  }

  draftChanged(): void {
    if (this.#applying) return;
    this.#revision++;
    this.#setMark({ ...this.#mark, dirty: true, at: this.#deps.wall() });
    this.#scheduleSave();
  }

  beforeSwitch(): void {
    this.#cancelTimer?.();
    if (this.#mark.dirty && this.#remoteSeen) void this.#save();
  }

  switched(conversation: string | null): void {
    this.#conversation = conversation;
    this.#mark = this.#storedMark(conversation);
    this.#announcedUpdate = null;
    this.#remoteSeen = false;
    this.#revision++;
    if (this.#online) void this.#read();
  }

  idAssigned(conversation: string): void {
    this.#cancelTimer?.();
    const { base } = this.#mark;
    const wasStored = this.#deps.mayStore() && (base > 0 || this.#savesInFlight > 0);
    this.#deps.storage.put(MARK_KEY, null);
    if (wasStored) this.#lastSave = this.#lastSave.then(async () => void (await this.#deps.client.drop(NEW_CONVERSATION)));
    this.#conversation = conversation;
    this.#revision++;
    this.#announcedUpdate = null;
    this.#remoteSeen = true;
    this.#setMark({ base: 0, dirty: !isEmpty(this.#localCopy()), at: this.#deps.wall() });
    if (this.#mark.dirty) this.#scheduleSave();
  }

  draftDeleted(conversation: string): void {
    this.#deps.storage.put(draftKey(MARK_KEY, conversation), null);
  }

  draftPrepended(conversation: string | null): void {
    const mark: SyncMark = { ...this.#storedMark(conversation), dirty: true, at: this.#deps.wall() };
    this.#deps.storage.put(draftKey(MARK_KEY, conversation), JSON.stringify(mark));
  }

  /** The server is reachable, for the first time or again. */
  resume(): void {
    this.#online = true;
    void this.#read();
  }

  /** The page may be unloaded: saves with a keepalive request. */
  flushOnExit(): void {
    if (!this.#mark.dirty || !this.#remoteSeen) return;
    this.#cancelTimer?.();
    void this.#save(true);
  }

  async flush(): Promise<void> {
    this.#cancelTimer?.();
    if (this.#mark.dirty && this.#remoteSeen) await this.#save();
    else await this.#lastSave;
  }

  /** Applies an event of the feed. */
  handleEvent(event: FeedEvent): void {
    if (event.type === "reset") return void this.#read();
    if (event.type !== "draft" || event.conversation !== (this.#conversation ?? NEW_CONVERSATION)) return;
    this.#announcedUpdate = event.updated;
    this.#readIfNewer();
  }

  #readIfNewer(): void {
    if (this.#savesInFlight > 0 || this.#mark.dirty || this.#announcedUpdate === null) return;
    const isNewer = this.#announcedUpdate !== this.#mark.base;
    this.#announcedUpdate = null;
    if (isNewer) void this.#read();
  }

  #scheduleSave(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#deps.clock.after(SAVE_DELAY_MS, () => void this.#save());
  }

  #localCopy(): StoredDraft {
    const { draft, attachments } = this.#deps;
    return { text: draft.text, files: attachments.items.filter(({ stage }) => stage === "kept") };
  }

  /** Saves are serialised so that the last one wins, except on unload, where there is no time to wait. */
  async #save(leaving = false): Promise<void> {
    if (!this.#deps.mayStore()) return;
    if (!this.#remoteSeen) return this.#read();
    const [conversation, revision, copy, mark] = [this.#conversation, this.#revision, this.#localCopy(), this.#mark];
    if (isEmpty(copy) && mark.base === 0 && this.#savesInFlight === 0) return this.#setMark({ ...mark, dirty: false });
    this.#savesInFlight++;
    const before = this.#lastSave;
    const save = (async () => {
      if (!leaving) await before;
      const updated = await this.#send(conversation ?? NEW_CONVERSATION, copy, leaving);
      this.#savesInFlight--;
      if (updated === null) return;
      if (conversation !== this.#conversation) {
        this.#deps.storage.put(draftKey(MARK_KEY, conversation), JSON.stringify({ ...mark, base: updated, dirty: false }));
        return;
      }
      this.#setMark({ ...this.#mark, base: updated, dirty: revision !== this.#revision });
      if (this.#mark.dirty) this.#scheduleSave();
      else this.#readIfNewer();
    })();
    this.#lastSave = save;
    await save;
  }

  /** Time of the stored copy; 0 if deleted, null if the request failed. */
  async #send(conversation: string, copy: StoredDraft, leaving: boolean): Promise<number | null> {
    const { client } = this.#deps;
    if (isEmpty(copy)) return (await client.drop(conversation, leaving)).kind === "ok" ? 0 : null;
    const answer = await client.put(conversation, copy, leaving);
    return answer.kind === "ok" ? (answer.value.updated ?? 0) : null;
  }

  async #read(): Promise<void> {
    if (!this.#deps.mayStore()) return;
    const [conversation, revision] = [this.#conversation, this.#revision];
    const answer = await this.#deps.client.read(conversation ?? NEW_CONVERSATION);
    if (answer.kind !== "ok" || conversation !== this.#conversation || this.#savesInFlight > 0) return;
    this.#remoteSeen = true;
    const { text = "", files = [], updated = 0 } = answer.value;
    this.#compare({ text, files, updated }, revision !== this.#revision);
  }

  /** `editedMeanwhile`: the user typed during the request. */
  #compare(remote: Required<StoredDraft>, editedMeanwhile: boolean): void {
    const local = this.#localCopy();
    const { base, dirty, at } = this.#mark;
    this.#announcedUpdate = null;
    if (remote.updated === base || isSame(local, remote)) {
      this.#setMark({ base: remote.updated, dirty: dirty && !isSame(local, remote), at });
      if (this.#mark.dirty) this.#scheduleSave();
    } else if (!dirty || (!editedMeanwhile && remote.updated > at)) {
      this.#applyRemote(remote);
      if (dirty && !isEmpty(local)) this.#offer(words().newerDraft, words().bringBack, local);
    } else {
      this.#setMark({ base: remote.updated, dirty, at });
      this.#scheduleSave();
      if (!isEmpty(remote)) this.#offer(words().otherDraft, words().takeOther, remote);
    }
  }

  #applyRemote({ text, files, updated }: Required<StoredDraft>): void {
    this.#applyCopy({ text, files });
    this.#revision++;
    this.#setMark({ base: updated, dirty: false, at: this.#deps.wall() });
  }

  #applyCopy({ text, files }: StoredDraft): void {
    const { draft, attachments } = this.#deps;
    this.#applying = true;
    draft.text = text;
    attachments.replace(attachmentsOf(files));
    this.#applying = false;
  }

  #offer(sentence: string, label: string, other: StoredDraft): void {
    const { notices } = this.#deps;
    const conversation = this.#conversation;
    const run = () => {
      notices.clear();
      if (conversation !== this.#conversation) return;
      this.#applyCopy(other);
      this.draftChanged();
    };
    notices.show(sentence, { label, run });
  }

  #setMark(mark: SyncMark): void {
    this.#mark = mark;
    const isDefault = mark.base === 0 && !mark.dirty;
    this.#deps.storage.put(draftKey(MARK_KEY, this.#conversation), isDefault ? null : JSON.stringify(mark));
  }

  #storedMark(conversation: string | null): SyncMark {
    try {
      const stored = JSON.parse(this.#deps.storage.get(draftKey(MARK_KEY, conversation)) ?? "null") as Partial<SyncMark> | null;
      if (stored) return { base: Number(stored.base) || 0, dirty: stored.dirty === true, at: Number(stored.at) || 0 };
    } catch {
      // Not valid JSON.
    }
    // Drafts of versions without marks count as edited now.
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
