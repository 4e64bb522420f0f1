// Sending a file. By XMLHttpRequest: fetch tells nothing of how far it is.
import { type Answer, answerOf } from "./http";
import type { StoredFile } from "../rows";

export interface Upload {
  readonly answer: Promise<Answer<StoredFile>>;
  readonly abort: () => void;
}

export type Uploader = (file: File, progress: (share: number) => void) => Upload;

/** What is sent for a temporary chat is never written to a disk. */
export function upload(file: File, progress: (share: number) => void, temporary = false): Upload {
  const request = new XMLHttpRequest();
  request.open("POST", `api/blobs?name=${encodeURIComponent(file.name)}${temporary ? "&temporary=true" : ""}`);
  request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
  request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
  const answer = new Promise<Answer<StoredFile>>((resolve) => {
    request.onload = () => resolve(answerOf<StoredFile>(request.status, request.responseText));
    request.onerror = request.onabort = () => resolve({ kind: "unreachable" });
  });
  request.send(file);
  return { answer, abort: () => request.abort() };
}
