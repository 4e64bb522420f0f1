// Uploads in pieces: another attempt with the same file goes on where the last one broke off. The server tells how much
// it has.
import type { StoredFile } from "../chat/rows";
import { type Answer, type Fetch, request, sendJson } from "./http";
import type { SendFile, Upload } from "./upload";

/** What it needs from the browser and the rest of the transport. */
export interface PieceTransport {
  readonly fetch: Fetch;
  /** Sends a piece to an upload. The stored file after the last one, else null. */
  readonly sendPiece: (address: string, piece: Blob, offset: number, progress: (share: number) => void) => Upload<StoredFile | null>;
}

interface Begun {
  readonly address: string;
  readonly pieceBytes: number;
}

interface NewUpload {
  readonly id: string;
  readonly piece_bytes: number;
}

/** Attempts with another offset or a new upload before the server's refusal is told. */
const MAX_CORRECTIONS = 3;

/** Of an upload whose user has removed the file; nobody reads it. */
const ABORTED = { kind: "unreachable" } as const;

export function resumableUploads({ fetch, sendPiece }: PieceTransport): SendFile<StoredFile> {
  const begun = new WeakMap<File, Begun>();

  async function begin(file: File): Promise<Answer<Begun>> {
    const answer = await sendJson<NewUpload>(fetch, "POST", "api/uploads", { name: file.name, mime: file.type || "application/octet-stream", size: file.size });
    if (answer.kind !== "ok") return answer;
    const upload = { address: `api/uploads/${answer.value.id}`, pieceBytes: answer.value.piece_bytes };
    begun.set(file, upload);
    return { kind: "ok", value: upload };
  }

  /** How much the server has; null if it does not know the upload any more. */
  async function offsetOf(address: string): Promise<Answer<number | null>> {
    let offset: string | null = null;
    const answer = await request<null>(
      async (at, init) => {
        const response = await fetch(at, init);
        offset = response.headers.get("Upload-Offset");
        return response;
      },
      address,
      { method: "HEAD" },
    );
    if (answer.kind === "refused" && answer.status === 404) return { kind: "ok", value: null };
    return answer.kind === "ok" ? { kind: "ok", value: Number(offset ?? 0) } : answer;
  }

  /** Where to go on: with the upload that was begun, else with a new one. */
  async function place(file: File): Promise<Answer<Begun & { readonly offset: number }>> {
    const known = begun.get(file);
    const offset = known ? await offsetOf(known.address) : null;
    if (offset && offset.kind !== "ok") return offset;
    if (known && offset && offset.value !== null) return { kind: "ok", value: { ...known, offset: offset.value } };
    const answer = await begin(file);
    return answer.kind === "ok" ? { kind: "ok", value: { ...answer.value, offset: 0 } } : answer;
  }

  return (file, progress) => {
    let aborted = false;
    let sending: Upload<StoredFile | null> | null = null;

    async function run(): Promise<Answer<StoredFile>> {
      for (let corrections = 0; ; corrections++) {
        const from = await place(file);
        if (aborted) return ABORTED;
        if (from.kind !== "ok") return from;
        const answer = await send(from.value);
        const isLost = answer.kind === "refused" && (answer.code === "upload_offset" || answer.code === "upload_not_found");
        if (!isLost || corrections === MAX_CORRECTIONS) return answer;
      }
    }

    /** Piece after piece, up to an answer that ends it. */
    async function send({ address, pieceBytes, offset }: Begun & { readonly offset: number }): Promise<Answer<StoredFile>> {
      progress(offset / file.size);
      // At the end an empty piece asks for the answer that was lost.
      for (let start = offset; ; start += pieceBytes) {
        const piece = file.slice(start, start + pieceBytes);
        sending = sendPiece(address, piece, start, (share) => progress((start + share * piece.size) / file.size));
        const answer = await sending.answer;
        if (aborted) return ABORTED;
        if (answer.kind !== "ok") return answer;
        if (answer.value !== null) {
          begun.delete(file);
          return { kind: "ok", value: answer.value };
        }
        // All was sent, and the server still waits: another attempt asks it where.
        if (start >= file.size) return { kind: "unreachable" };
      }
    }

    return {
      answer: run(),
      abort() {
        aborted = true;
        sending?.abort();
        const known = begun.get(file);
        if (known) void request(fetch, known.address, { method: "DELETE" });
      },
    };
  };
}
