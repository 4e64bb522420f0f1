// Files beside what is being typed: each is sent to the server at once, and belongs to the message when that is. What
// has arrived outlives a reload, in each conversation.
import type { Shelf } from "../settings/shelf";
import { problemOf } from "../wire/http";
import { type Content, type FileContent, filesOf, newId } from "../wire/rows";
import type { Upload, Uploader } from "../wire/upload";
import { draftKey } from "./draft.svelte";

const KEY = "duologue.files";

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
}

function contentOf({ blob, mime, name }: Attachment): FileContent {
  const kind = /^(image|audio|video)\//.exec(mime)?.[1] as "image" | "audio" | "video" | undefined;
  return { type: kind ?? "document", blob, mime, name };
}

export class Attachments {
  readonly #shelf: Shelf;
  readonly #upload: Uploader;
  readonly #sending = new Map<string, Upload>();
  #key = KEY;
  #items = $state.raw<readonly Attachment[]>([]);

  constructor(shelf: Shelf, upload: Uploader) {
    this.#shelf = shelf;
    this.#upload = upload;
    this.#items = this.#kept();
  }

  get items(): readonly Attachment[] {
    return this.#items;
  }

  /** Some file is still on its way. */
  get busy(): boolean {
    return this.#items.some(({ stage }) => stage === "sending");
  }

  get ready(): boolean {
    return this.#items.some(({ stage }) => stage === "kept");
  }

  turnTo(conversation: string | null): void {
    for (const { abort } of this.#sending.values()) abort();
    this.#sending.clear();
    this.#key = draftKey(KEY, conversation);
    this.#items = this.#kept();
  }

  /** The new conversation has a name now: what is here goes on in it. */
  become(conversation: string): void {
    this.#shelf.put(this.#key, null);
    this.#key = draftKey(KEY, conversation);
    this.#set(this.#items);
  }

  forget(conversation: string): void {
    this.#shelf.put(draftKey(KEY, conversation), null);
  }

  add(files: Iterable<File>): void {
    for (const file of files) void this.#send(file);
  }

  remove(key: string): void {
    this.#sending.get(key)?.abort();
    this.#sending.delete(key);
    this.#set(this.#items.filter((item) => item.key !== key));
  }

  /** What is there, to go with a message; nothing is left. */
  take(): Content[] {
    const taken = this.#items.filter(({ stage }) => stage === "kept").map(contentOf);
    this.#set([]);
    return taken;
  }

  /** Put a message's files back where they came from. */
  putBack(content: readonly Content[]): void {
    const items = filesOf(content).flatMap((part): Attachment[] =>
      part.type === "resource"
        ? []
        : [{ key: newId(), name: part.name ?? "", mime: part.mime, stage: "kept", share: 1, blob: part.blob, problem: "" }],
    );
    this.#set([...this.#items, ...items]);
  }

  async #send(file: File): Promise<void> {
    const key = newId();
    const upload = this.#upload(file, (share) => this.#change(key, { share }));
    this.#sending.set(key, upload);
    const begun: Attachment = { key, name: file.name, mime: file.type, stage: "sending", share: 0, blob: "", problem: "" };
    this.#items = [...this.#items, begun];
    const answer = await upload.answer;
    if (!this.#sending.delete(key)) return;
    if (answer.kind === "ok") this.#change(key, { stage: "kept", share: 1, blob: answer.value.hash, mime: answer.value.mime });
    else this.#change(key, { stage: "failed", problem: problemOf(answer) });
  }

  #change(key: string, changes: Partial<Attachment>): void {
    this.#set(this.#items.map((item) => (item.key === key ? { ...item, ...changes } : item)));
  }

  #set(items: readonly Attachment[]): void {
    this.#items = items;
    const kept = items.filter(({ stage }) => stage === "kept");
    this.#shelf.put(this.#key, kept.length === 0 ? null : JSON.stringify(kept));
  }

  #kept(): readonly Attachment[] {
    try {
      const kept = JSON.parse(this.#shelf.get(this.#key) ?? "[]") as unknown;
      return Array.isArray(kept) ? (kept as Attachment[]) : [];
    } catch {
      return [];
    }
  }
}
