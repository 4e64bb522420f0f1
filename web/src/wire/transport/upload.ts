// Sends files with progress. XMLHttpRequest, because fetch reports no upload progress.
import { type Answer, answerOf } from "./http";
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

export function postFile<Value>(address: string, file: File, mime: string, progress: (share: number) => void): Upload<Value> {
  const request = new XMLHttpRequest();
  request.open("POST", address);
  request.setRequestHeader("Content-Type", mime);
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
  request.send(file);
  return { answer, abort: () => request.abort() };
}

/** Stores a file. Files of a temporary chat are never written to disk. */
export function upload(file: File, progress: (share: number) => void, temporary = false): Upload<StoredFile> {
  const address = `api/blobs?name=${encodeURIComponent(file.name)}${temporary ? "&temporary=true" : ""}`;
  return postFile(address, file, file.type || "application/octet-stream", progress);
}
