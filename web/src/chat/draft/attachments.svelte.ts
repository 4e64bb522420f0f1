// Files beside what is being typed: each is sent to the server at once, and belongs to the message when that is. What
// has arrived outlives a reload, in each conversation; what is on its way arrives though another one is looked at.
import { composer as words } from "../../language/en/composer";
import type { TextStorage } from "../../settings/storage";
import { problemOf } from "../../wire/transport/http";
import { type Content, type FileContent, filesOf, newId, type ResourceContent } from "../../wire/rows";
import type { Upload, Uploader } from "../../wire/transport/upload";
import { draftKey } from "./draft.svelte";
import { type DocumentMode, isText } from "./file_support";

const KEY = "duologue.files";
/** Files are sent so many at a time: a browser has few lines to one server, and replies need some. */
const MAX_PARALLEL = 3;
/** Bytes of a text that are read for its beginning, and characters of it that are shown. */
const [PREVIEW_BYTES, PREVIEW_LENGTH] = [600, 160];
const MEGABYTE = 2 ** 20;

export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly mime: string;
  readonly stage: "sending" | "kept" | "failed";
  /** How much of it is there, 0 to 1. */
  readonly share: number;
  /** The hash it is kept under. */
  readonly blob: string;
  readonly problem: string;
  /** Bytes; 0 where unknown. */
  readonly size: number;
  /** How a document was chosen to be given; absent: as usual. */
  readonly given?: DocumentMode;
  /** How a text begins. */
  readonly beginning?: string;
  /** It is no file but something a tool server let be read. */
  readonly resource?: ResourceContent;
}

/** What there is to know outside about files that are attached. */
export interface AttachmentRules {
  /** Of the server: `attachments` files a message, `blob_bytes` a file. */
  readonly limits: () => Readonly<Record<string, number>>;
  /** Whether the model that answers can take it. */
  readonly isSupported: (item: Attachment) => boolean;
  readonly documentMode: (item: Attachment) => DocumentMode | undefined;
  readonly reportProblem: (sentence: string) => void;
}

const NO_RULES: AttachmentRules = { limits: () => ({}), isSupported: () => true, documentMode: ({ given }) => given, reportProblem: () => {} };

export class Attachments {
  readonly #storage: TextStorage;
  readonly #upload: Uploader;
  readonly #rules: AttachmentRules;
  readonly #sending = new Map<string, Upload>();
  /** Of what did not arrive, or not yet: to be sent, once more. */
  readonly #files = new Map<string, File>();
  /** Conversations that are not looked at and wait for files, or for somebody to try them again. */
  readonly #background = new Map<string, readonly Attachment[]>();
  #key = KEY;
  #items = $state.raw<readonly Attachment[]>([]);
  /** Told of every change of what would outlive a reload. */
  changed: () => void = () => {};

  constructor(storage: TextStorage, upload: Uploader, rules: AttachmentRules = NO_RULES) {
    this.#storage = storage;
    this.#upload = upload;
    this.#rules = rules;
    this.#items = this.#stored(KEY);
  }

  get items(): readonly Attachment[] {
    return this.#items;
  }

  /** Some file is still on its way. */
  get busy(): boolean {
    return this.#items.some(({ stage }) => stage === "sending");
  }

  /** There is something that can go with a message. */
  get ready(): boolean {
    return this.#items.some((item) => this.#isSendable(item));
  }

  switchTo(conversation: string | null): void {
    if (this.#items.some(({ stage }) => stage !== "kept")) this.#background.set(this.#key, this.#items);
    this.#key = draftKey(KEY, conversation);
    this.#items = this.#background.get(this.#key) ?? this.#stored(this.#key);
    this.#background.delete(this.#key);
  }

  /** The new conversation has a name now: what is here goes on in it. */
  assignId(conversation: string): void {
    this.#storage.put(this.#key, null);
    this.#key = draftKey(KEY, conversation);
    this.#store(this.#key, this.#items);
  }

  delete(conversation: string): void {
    const key = draftKey(KEY, conversation);
    for (const item of this.#background.get(key) ?? []) this.#abort(item.key);
    this.#background.delete(key);
    this.#storage.put(key, null);
  }

  /** What is more or larger than the server takes is not sent, and it is said why. */
  add(files: Iterable<File>): void {
    const { attachments: most = Infinity, blob_bytes: largest = Infinity } = this.#rules.limits();
    const all = [...files];
    const room = Math.max(0, most - this.#items.length);
    if (all.length > room) this.#rules.reportProblem(words().tooMany(most, all.length - room));
    const items = all.slice(0, room).map((file): Attachment => {
      const key = newId();
      this.#files.set(key, file);
      const fields = { key, name: file.name, mime: file.type, share: 0, blob: "", size: file.size };
      if (file.size <= largest) return { ...fields, stage: "sending", problem: "" };
      return { ...fields, stage: "failed", problem: words().tooLarge(Math.floor(largest / MEGABYTE)) };
    });
    this.#items = [...this.#items, ...items];
    this.#sendWaiting();
  }

  /** Attach a long text as a file; gives its key, or nothing where there was no room for it. */
  addText(text: string, name: string): string {
    const before = this.#items.length;
    this.add([new File([text], name, { type: "text/plain" })]);
    return this.#items[before]?.key ?? "";
  }

  /** Send once more what did not arrive. */
  retry(key: string): void {
    if (!this.#files.has(key)) return;
    this.#change(key, { stage: "sending", share: 0, problem: "" });
    this.#sendWaiting();
  }

  canRetry({ key, size }: Attachment): boolean {
    return this.#files.has(key) && size <= (this.#rules.limits()["blob_bytes"] ?? Infinity);
  }

  /** Give a document as its text or as its pages; undefined: as usual. */
  setDocumentMode(key: string, given: DocumentMode | undefined): void {
    const withMode = (item: Attachment): Attachment => {
      const { given: before, ...rest } = item;
      return before === given ? item : given ? { ...rest, given } : rest;
    };
    this.#set(this.#items.map((item) => (item.key === key ? withMode(item) : item)));
  }

  remove(key: string): void {
    this.#abort(key);
    this.#set(this.#items.filter((item) => item.key !== key));
    this.#sendWaiting();
  }

  /** What is there and can be taken, to go with a message; what cannot stays. */
  take(): Content[] {
    const taken = this.#items.filter((item) => this.#isSendable(item));
    this.#set(this.#items.filter((item) => !taken.includes(item)));
    return taken.map((item) => item.resource ?? this.#contentOf(item));
  }

  /** Put a message's files back where they came from, here or in another conversation; or what was read at a tool
   * server, which looks the same. */
  restore(content: readonly Content[], conversation?: string | null): void {
    const items = filesOf(content).map((part): Attachment => {
      const fields = { key: newId(), name: part.name ?? "", mime: part.mime ?? "", stage: "kept", share: 1, problem: "", size: 0 } as const;
      if (part.type === "resource") return { ...fields, name: part.name || part.uri, blob: "", resource: part };
      return { ...fields, blob: part.blob, ...(part.given === "pages" ? { given: part.given } : {}) };
    });
    const key = conversation === undefined ? this.#key : draftKey(KEY, conversation);
    if (key === this.#key) return this.#set([...this.#items, ...items]);
    const all = [...(this.#background.get(key) ?? this.#stored(key)), ...items];
    if (this.#background.has(key)) this.#background.set(key, all);
    this.#store(key, all);
  }

  /** What another device has attached here, in place of what is here; what has not arrived is no other device's. */
  replace(items: readonly Attachment[]): void {
    this.#set([...items, ...this.#items.filter(({ stage }) => stage !== "kept")]);
  }

  #isSendable(item: Attachment): boolean {
    return item.stage === "kept" && this.#rules.isSupported(item);
  }

  #contentOf(item: Attachment): FileContent {
    const { blob, mime, name } = item;
    const kind = /^(image|audio|video)\//.exec(mime)?.[1] as "image" | "audio" | "video" | undefined;
    if (kind) return { type: kind, blob, mime, name };
    const given = this.#rules.documentMode(item);
    return { type: "document", blob, mime, name, ...(given ? { given } : {}) };
  }

  /** Wherever they are attached: files that were not begun to be sent. */
  #sendWaiting(): void {
    const waiting = [this.#items, ...this.#background.values()].flat().filter(({ key, stage }) => stage === "sending" && !this.#sending.has(key));
    for (const { key } of waiting.slice(0, Math.max(0, MAX_PARALLEL - this.#sending.size))) void this.#send(key, this.#files.get(key)!);
  }

  async #send(key: string, file: File): Promise<void> {
    const upload = this.#upload(file, (share) => this.#change(key, { share }));
    this.#sending.set(key, upload);
    const answer = await upload.answer;
    if (!this.#sending.delete(key)) return;
    if (answer.kind === "ok") {
      const { hash: blob, mime, size } = answer.value;
      this.#files.delete(key);
      this.#change(key, { stage: "kept", share: 1, blob, mime, size });
      if (isText({ mime })) void this.#readPreview(key, file);
    } else this.#change(key, { stage: "failed", problem: problemOf(answer) });
    this.#sendWaiting();
  }

  async #readPreview(key: string, file: File): Promise<void> {
    const text = (await file.slice(0, PREVIEW_BYTES).text()).replace(/\s+/g, " ").trim();
    if (text !== "") this.#change(key, { beginning: text.slice(0, PREVIEW_LENGTH) });
  }

  #abort(key: string): void {
    this.#sending.get(key)?.abort();
    this.#sending.delete(key);
    this.#files.delete(key);
  }

  #change(key: string, changes: Partial<Attachment>): void {
    const changed = (items: readonly Attachment[]) => items.map((item) => (item.key === key ? { ...item, ...changes } : item));
    if (this.#items.some((item) => item.key === key)) return this.#set(changed(this.#items));
    for (const [conversationKey, items] of this.#background) {
      if (!items.some((item) => item.key === key)) continue;
      this.#background.set(conversationKey, changed(items));
      this.#store(conversationKey, changed(items));
    }
  }

  #set(items: readonly Attachment[]): void {
    const before = this.#items;
    this.#items = items;
    if (storedKeys(before).join() === storedKeys(items).join()) return;
    this.#store(this.#key, items);
    this.changed();
  }

  #store(key: string, items: readonly Attachment[]): void {
    const stored = items.filter(({ stage }) => stage === "kept");
    this.#storage.put(key, stored.length === 0 ? null : JSON.stringify(stored));
  }

  #stored(key: string): readonly Attachment[] {
    try {
      return attachmentsOf(JSON.parse(this.#storage.get(key) ?? "[]"));
    } catch {
      return [];
    }
  }
}

/** What tells whether anything has to be kept anew: progress has not. */
function storedKeys(items: readonly Attachment[]): string[] {
  return items.filter(({ stage }) => stage === "kept").map(({ key, given, beginning }) => `${key} ${given} ${beginning !== undefined}`);
}

/** Of what was written by a page like this one, here or elsewhere; nothing of anything else. */
export function attachmentsOf(stored: unknown): readonly Attachment[] {
  if (!Array.isArray(stored)) return [];
  const isAttachment = (item: Partial<Attachment> | null) => typeof item?.key === "string" && typeof item.blob === "string" && item.stage === "kept";
  return (stored as (Attachment | null)[]).filter((item): item is Attachment => isAttachment(item)).map((item) => ({ ...item, size: item.size ?? 0, mime: item.mime ?? "" }));
}
