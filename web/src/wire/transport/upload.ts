// Sends files with progress. XMLHttpRequest, because fetch reports no upload progress.
import { type Answer, answerOf, type Fetch } from "./http";
import { resumableUploads } from "./resumable_upload";
import type { StoredFile } from "../chat/rows";

export interface Upload<Value> {
  readonly answer: Promise<Answer<Value>>;
  readonly abort: () => void;
}

/** `progress` receives the share that has been sent, 0 to 1. */
export type SendFile<Value> = (file: File, progress: (share: number) => void) => Upload<Value>;
export type Uploader = SendFile<StoredFile>;

/** Milliseconds without a byte sent, or without an answer to the last one, after which the connection counts as broken. The server
 * reads a large file before it answers. */
const STALL_MS = { sending: 60_000, answer: 180_000 };

/** Larger files are sent in pieces and go on after a broken connection. */
const PIECEWISE_BYTES = 8 * 2 ** 20;

export function postFile<Value>(address: string, file: File, mime: string, progress: (share: number) => void): Upload<Value> {
  return send("POST", address, file, { "Content-Type": mime }, progress);
}

function send<Value>(method: string, address: string, body: Blob, headers: Readonly<Record<string, string>>, progress: (share: number) => void): Upload<Value> {
  const request = new XMLHttpRequest();
  request.open(method, address);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  let timer = setTimeout(() => request.abort(), STALL_MS.sending);
  const wait = (milliseconds: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => request.abort(), milliseconds);
  };
  request.upload.onprogress = ({ loaded, total }) => {
    wait(STALL_MS.sending);
    progress(total > 0 ? loaded / total : 0);
  };
  request.upload.onload = () => wait(STALL_MS.answer);
  request.onloadend = () => clearTimeout(timer);
  const answer = new Promise<Answer<Value>>((resolve) => {
    request.onload = () => resolve(answerOf<Value>(request.status, request.responseText));
    request.onerror = request.onabort = () => resolve({ kind: "unreachable" });
  });
  request.send(body);
  return { answer, abort: () => request.abort() };
}

/** Stores a file: a large one in pieces. Files of a temporary chat are never written to disk, and come in one piece. */
export function uploader(fetch: Fetch): (file: File, progress: (share: number) => void, temporary?: boolean) => Upload<StoredFile> {
  const inPieces = resumableUploads({
    fetch,
    sendPiece: (address, piece, offset, progress) =>
      send("PATCH", address, piece, { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) }, progress),
  });
  return (file, progress, temporary = false) => (file.size > PIECEWISE_BYTES && !temporary ? inPieces(file, progress) : upload(file, progress, temporary));
}

function upload(file: File, progress: (share: number) => void, temporary: boolean): Upload<StoredFile> {
  const address = `api/blobs?name=${encodeURIComponent(file.name)}${temporary ? "&temporary=true" : ""}`;
  return postFile(address, file, file.type || "application/octet-stream", progress);
}
