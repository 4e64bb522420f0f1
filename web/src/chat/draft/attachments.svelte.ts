// Files attached to the draft. Each is uploaded at once and sent with the message. Finished uploads survive a reload,
// per conversation; running ones continue while another conversation is open.
import { composer as words } from "../../language/en/chat/composer";
import type { TextStorage } from "../../settings/storage";
import { type Answer, problemOf } from "../../wire/transport/http";
import { type Content, type FileContent, filesOf, newId, type ResourceContent, type StoredFile } from "../../wire/chat/rows";
import type { Upload, Uploader } from "../../wire/transport/upload";
import { draftKey } from "./draft.svelte";
import { type DocumentMode, isText } from "./file_support";

const KEY = "duologue.files";
/** Uploads at a time: a browser opens few connections to one server, and replies need some. */
const MAX_PARALLEL = 3;
/** How much of a text file is read for its preview, in bytes, and shown, in characters. */
const [PREVIEW_BYTES, PREVIEW_LENGTH] = [600, 160];
const MEGABYTE = 2 ** 20;
/** Milliseconds before an upload whose connection broke begins again, for each attempt. */
const RETRY_DELAYS_MS = [1000, 4000];

export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly mime: string;
  readonly stage: "sending" | "kept" | "failed";
  /** Uploaded share, 0 to 1. */
  readonly share: number;
  /** The connection broke, and the upload is about to begin again. */
  readonly interrupted?: boolean;
  /** Hash of the stored file. */
  readonly blob: string;
  readonly problem: string;
  /** No model can take it; `problem` says why. */
  readonly unusable?: boolean;
  /** False until the server has looked at it: what it cannot read has no thumbnail to ask for. */
  readonly checked?: boolean;
  /** A PDF without text, for models that see pictures. */
  readonly scan?: boolean;
  /** Bytes; 0 if unknown. */
  readonly size: number;
  /** How the user chose to send a document; absent: the default. */
  readonly given?: DocumentMode;
  /** Preview of a text file. */
  readonly beginning?: string;
  /** A resource of a tool server instead of a file. */
  readonly resource?: ResourceContent;
}

export interface Inspection {
  /** Why no model can take the file; empty when one can, or when the server does not answer. */
  readonly problem: string;
  readonly scan: boolean;
}

/** What the rest of the page decides about attachments. */
export interface AttachmentRules {
  /** Server limits: `attachments` per message, `blob_bytes` per file. */
  readonly limits: () => Readonly<Record<string, number>>;
  /** Whether the current model accepts it. */
  readonly isSupported: (item: Attachment) => boolean;
  readonly documentMode: (item: Attachment) => DocumentMode | undefined;
  readonly reportProblem: (sentence: string) => void;
  /** Runs `action` after the delay; returns what cancels it. */
  readonly after: (milliseconds: number, action: () => void) => () => void;
  /** Whether the server can use this file. */
  readonly inspect: (blob: string) => Promise<Inspection>;
  /** Why the server cannot show this file; empty when it can, or does not answer. */
  readonly thumbnailProblem: (blob: string) => Promise<string>;
}

const NO_RULES: AttachmentRules = { limits: () => ({}), isSupported: () => true, documentMode: ({ given }) => given, reportProblem: () => {}, after: () => () => {}, inspect: async () => ({ problem: "", scan: false }), thumbnailProblem: async () => "" };

export class Attachments {
  readonly #storage: TextStorage;
  readonly #upload: Uploader;
  readonly #rules: AttachmentRules;
  readonly #sending = new Map<string, Upload<StoredFile>>();
  /** Files that are not stored yet, for the first or another attempt. */
  readonly #files = new Map<string, File>();
  /** Those that failed because the server could not be reached. */
  readonly #unreached = new Set<string>();
  /** Attachments of other conversations with unfinished or failed uploads. */
  readonly #background = new Map<string, readonly Attachment[]>();
  #key = KEY;
  #items = $state.raw<readonly Attachment[]>([]);
  /** Called when what survives a reload has changed. */
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

  /** An upload is running. */
  get busy(): boolean {
    return this.#items.some(({ stage }) => stage === "sending");
  }

  /** At least one attachment can be sent. */
  get ready(): boolean {
    return this.#items.some((item) => this.#isSendable(item));
  }

  switchTo(conversation: string | null): void {
    if (this.#items.some(({ stage }) => stage !== "kept")) this.#background.set(this.#key, this.#items);
    this.#key = draftKey(KEY, conversation);
    this.#items = this.#background.get(this.#key) ?? this.#stored(this.#key);
    this.#background.delete(this.#key);
  }

  /** The new conversation got an id: its attachments move there. */
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

  /** Files beyond the server's limits are not uploaded; the reason is shown. */
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

  /** Attaches a long text as a file. Returns its key, or "" if there was no room. */
  addText(text: string, name: string): string {
    const before = this.#items.length;
    this.add([new File([text], name, { type: "text/plain" })]);
    return this.#items[before]?.key ?? "";
  }

  /** Repeats a failed upload. */
  retry(key: string): void {
    if (!this.#files.has(key)) return;
    this.#unreached.delete(key);
    this.#change(key, { stage: "sending", share: 0, problem: "" });
    this.#sendWaiting();
  }

  /** The server is reachable again: what did not reach it is sent again. */
  resume(): void {
    for (const key of [...this.#unreached]) this.retry(key);
  }

  canRetry({ key, size }: Attachment): boolean {
    return this.#files.has(key) && size <= (this.#rules.limits()["blob_bytes"] ?? Infinity);
  }

  /** A thumbnail could not be loaded: a file that the server cannot read is reported before it is sent. */
  async thumbnailFailed({ key, blob }: Attachment): Promise<void> {
    const problem = await this.#rules.thumbnailProblem(blob);
    if (problem !== "") this.#change(key, { problem });
  }

  /** Sends a document as text or as page images; undefined: the default. */
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

  /** Removes and returns everything that can be sent; the rest stays. */
  take(): Content[] {
    const sendable = this.#items.filter((item) => this.#isSendable(item));
    this.#set(this.#items.filter((item) => !sendable.includes(item)));
    return sendable.map((item) => item.resource ?? this.#contentOf(item));
  }

  /** Attaches the files of a message again, here or in another conversation. Also used for resources of tool servers.
   * Attaches the files of a message again, here or in another conversation. Also used for resources of tool servers. */
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

  /** Replaces the stored attachments with those of another device; unfinished uploads stay. */
  replace(items: readonly Attachment[]): void {
    this.#set([...items, ...this.#items.filter(({ stage }) => stage !== "kept")]);
  }

  #isSendable(item: Attachment): boolean {
    return item.stage === "kept" && !item.unusable && this.#rules.isSupported(item);
  }

  #contentOf(item: Attachment): FileContent {
    const { blob, mime, name } = item;
    const kind = /^(image|audio|video)\//.exec(mime)?.[1] as "image" | "audio" | "video" | undefined;
    if (kind) return { type: kind, blob, mime, name };
    const given = this.#rules.documentMode(item);
    return { type: "document", blob, mime, name, ...(given ? { given } : {}) };
  }

  /** Starts waiting uploads of all conversations, up to the limit. */
  #sendWaiting(): void {
    const waiting = [this.#items, ...this.#background.values()].flat().filter(({ key, stage }) => stage === "sending" && !this.#sending.has(key));
    for (const { key } of waiting.slice(0, Math.max(0, MAX_PARALLEL - this.#sending.size))) void this.#send(key, this.#files.get(key)!);
  }

  async #send(key: string, file: File): Promise<void> {
    const answer = await this.#attempt(key, file);
    if (answer === null) return;
    this.#sending.delete(key);
    if (answer.kind === "unreachable") this.#unreached.add(key);
    if (answer.kind === "ok") {
      const { hash: blob, mime, size } = answer.value;
      this.#files.delete(key);
      this.#change(key, { stage: "kept", share: 1, interrupted: false, checked: false, blob, mime, size });
      void this.#inspect(key, blob);
      if (isText({ mime })) void this.#readPreview(key, file);
    } else this.#change(key, { stage: "failed", interrupted: false, problem: problemOf(answer) });
    this.#sendWaiting();
  }

  /** Uploads, and tries again where the connection breaks: a large file goes on, a small one begins again. An attempt that came
   * further than those before has all tries again. Null if it was aborted. */
  async #attempt(key: string, file: File): Promise<Answer<StoredFile> | null> {
    let furthest = 0;
    for (let attempt = 0; ; attempt++) {
      const before = furthest;
      const upload = this.#upload(file, (share) => {
        furthest = Math.max(furthest, share);
        this.#change(key, { share, interrupted: false });
      });
      this.#sending.set(key, upload);
      const answer = await upload.answer;
      if (this.#sending.get(key) !== upload) return null;
      if (furthest > before) attempt = 0;
      const delay = RETRY_DELAYS_MS[attempt];
      if (answer.kind !== "unreachable" || delay === undefined) return answer;
      this.#change(key, { share: 0, interrupted: true });
      if (!(await this.#pause(key, delay))) return null;
    }
  }

  /** The place among the parallel uploads stays taken. False if it was aborted meanwhile. */
  #pause(key: string, milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#rules.after(milliseconds, () => resolve(true));
      const abort = () => {
        cancel();
        resolve(false);
      };
      this.#sending.set(key, { answer: Promise.resolve({ kind: "unreachable" }), abort });
    });
  }

  async #inspect(key: string, blob: string): Promise<void> {
    const { problem, scan } = await this.#rules.inspect(blob);
    this.#change(key, { checked: true, ...(problem !== "" ? { problem, unusable: true } : scan ? { scan } : {}) });
  }

  async #readPreview(key: string, file: File): Promise<void> {
    const text = (await file.slice(0, PREVIEW_BYTES).text()).replace(/\s+/g, " ").trim();
    if (text !== "") this.#change(key, { beginning: text.slice(0, PREVIEW_LENGTH) });
  }

  #abort(key: string): void {
    this.#sending.get(key)?.abort();
    this.#sending.delete(key);
    this.#files.delete(key);
    this.#unreached.delete(key);
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

/** What is compared to decide whether to store again: progress does not count. */
function storedKeys(items: readonly Attachment[]): string[] {
  return items.filter(({ stage }) => stage === "kept").map(({ key, given, beginning, unusable, scan }) => [key, given, beginning !== undefined, unusable, scan].join(" "));
}

/** Attachments from stored JSON; anything else is ignored. */
export function attachmentsOf(stored: unknown): readonly Attachment[] {
  if (!Array.isArray(stored)) return [];
  const isAttachment = (item: Partial<Attachment> | null) => typeof item?.key === "string" && typeof item.blob === "string" && item.stage === "kept";
  return (stored as (Attachment | null)[]).filter((item): item is Attachment => isAttachment(item)).map(({ checked: _, ...item }) => ({ ...item, size: item.size ?? 0, mime: item.mime ?? "", problem: item.unusable ? (item.problem ?? "") : "" }));
}
