// Asking the server by plain HTTP: one question, one answer of four kinds. Addresses are relative to the page, so
// that it works under any base path. Knows no address.

import { problems } from "../../language/en/problems";
import { shell as words } from "../../language/en/shell";

export type Answer<Value> =
  | { readonly kind: "ok"; readonly value: Value }
  | { readonly kind: "unauthorized"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string; readonly code: string; readonly status: number; readonly param?: string }
  | { readonly kind: "unreachable" };

// Milliseconds after which a silent server counts as unreachable.
const PATIENCE = 10_000;

export type Fetch = (address: string, init?: RequestInit) => Promise<Response>;

interface Refusal {
  readonly code: string;
  readonly message: string;
  /** The field it is about, where it is about one. */
  readonly param?: string;
}

/** Why an answer is a bad one, from its status and its text. */
export function refusalOf(status: number, body: string): Refusal {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: string; message?: string; param?: string | null } };
    if (error?.message) return { code: error.code ?? "", message: error.message, ...(error.param ? { param: error.param } : {}) };
  } catch {
    // Not ours, or not JSON: a proxy's page. The status is all there is to tell.
  }
  return { code: "", message: words().status(status) };
}

/** A status and a text as an answer; `Value` is null where the server answers with nothing. */
export function answerOf<Value>(status: number, body: string): Answer<Value> {
  // A gateway that is down behind a proxy: the proxy answers in its place.
  if (status === 502 || status === 504) return { kind: "unreachable" };
  if (status < 200 || status > 299) {
    const { message, ...about } = refusalOf(status, body);
    return status === 401 ? { kind: "unauthorized", message } : { kind: "refused", message, status, ...about };
  }
  try {
    return { kind: "ok", value: (body === "" ? null : JSON.parse(body)) as Value };
  } catch {
    return { kind: "refused", message: words().unreadable, code: "", status };
  }
}

export async function ask<Value>(fetch: Fetch, address: string, init: RequestInit = {}): Promise<Answer<Value>> {
  try {
    const response = await fetch(address, {
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE),
      ...init,
    });
    return answerOf(response.status, await response.text());
  } catch {
    return { kind: "unreachable" };
  }
}

/** The same with a JSON body. */
export function tell<Value>(fetch: Fetch, method: string, address: string, body?: unknown, patience = PATIENCE): Promise<Answer<Value>> {
  return ask<Value>(fetch, address, {
    method,
    signal: AbortSignal.timeout(patience),
    ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  });
}

/** An answer that is not a good one, in a sentence. */
export function problemOf(answer: Answer<unknown>): string {
  if (answer.kind === "ok") return "";
  if (answer.kind === "unreachable") return words().noAnswer;
  return answer.kind === "refused" ? problems().told(answer.code, answer.message) : answer.message;
}
