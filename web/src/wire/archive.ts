// All conversations at once: a file of them into the server, and what is done with every one. Knows no page.
import { type Answer, answerOf, request, type Fetch, sendJson } from "./transport/http";

/** `skipped` were there already; `problems` name what was left out, in sentences. */
export interface ImportReport {
  readonly imported: number;
  readonly skipped: number;
  readonly problems: readonly string[];
  readonly conversations: readonly string[];
}

export interface Sending {
  readonly answer: Promise<Answer<ImportReport>>;
  readonly abort: () => void;
}

/** `progress` hears how much of the file is there, 0 to 1. */
export type ImportFile = (file: File, progress: (share: number) => void) => Sending;

/** By XMLHttpRequest: fetch tells nothing of how far a file is. */
export const importFile: ImportFile = (file, progress) => {
  const request = new XMLHttpRequest();
  request.open("POST", `api/import?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
  const answer = new Promise<Answer<ImportReport>>((resolve) => {
    request.onload = () => resolve(answerOf<ImportReport>(request.status, request.responseText));
    request.onerror = request.onabort = () => resolve({ kind: "unreachable" });
  });
  request.send(file);
  return { answer, abort: () => request.abort() };
};

interface ListedIds {
  readonly conversations: readonly { readonly id: string }[];
  readonly next?: string | null;
}

/** The server takes so many in one command. */
const AT_ONCE = 1000;

export class ArchiveClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** The ids of all conversations, archived ones too. */
  async ids(): Promise<Answer<readonly string[]>> {
    const found: string[] = [];
    for (const archived of [false, true]) {
      let before: string | null = null;
      do {
        const at: string = before === null ? "" : `&before=${encodeURIComponent(before)}`;
        const answer: Answer<ListedIds> = await request<ListedIds>(this.#fetch, `api/conversations?limit=200&archived=${archived}${at}`);
        if (answer.kind !== "ok") return answer;
        found.push(...answer.value.conversations.map(({ id }) => id));
        before = answer.value.next ?? null;
      } while (before !== null);
    }
    return { kind: "ok", value: found };
  }

  /** One after the other, as many as the server takes at once; ends at the first that fails. */
  async all(ids: readonly string[], verb: "delete" | "restore"): Promise<Answer<unknown>> {
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const answer = await sendJson(this.#fetch, "POST", "api/conversations/bulk", { ids: ids.slice(start, start + AT_ONCE), do: verb }, 60_000);
      if (answer.kind !== "ok") return answer;
    }
    return { kind: "ok", value: null };
  }
}
