// One HTTP request, one `Answer` of four kinds. Addresses are relative to the page, so that it works under any base
// path.

import { problems } from "../../language/en/shell/problems";
import { shell as words } from "../../language/en/shell/shell";

/** The numbers and names in the sentence of a problem. */
export type ProblemValues = Readonly<Record<string, number | string>>;

export type Answer<Value> =
  | { readonly kind: "ok"; readonly value: Value }
  | { readonly kind: "unauthorized"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string; readonly code: string; readonly status: number; readonly param?: string; readonly values?: ProblemValues }
  | { readonly kind: "unreachable" };

// A server that is silent this long (milliseconds) counts as unreachable.
const TIMEOUT_MS = 10_000;

export type Fetch = (address: string, init?: RequestInit) => Promise<Response>;

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** The request field at fault, if the error names one. */
  readonly param?: string;
  readonly values?: ProblemValues;
}

/** The error in a response: from its JSON body, else a generic sentence for the status. */
export function errorBodyOf(status: number, body: string): ErrorBody {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: string; message?: string; param?: string | null; values?: ProblemValues } };
    if (error?.message) {
      const { code = "", message, param, values } = error;
      return { code, message, ...(param ? { param } : {}), ...(values ? { values } : {}) };
    }
  } catch {
    // Not the server's JSON, for example a proxy's error page: only the status is known.
  }
  return { code: "", message: words().status(status) };
}

/** A status and a body as an answer. `Value` is null where the server sends no body. */
export function answerOf<Value>(status: number, body: string): Answer<Value> {
  // 502 and 504 come from a reverse proxy in front of a server that is down.
  if (status === 502 || status === 504) return { kind: "unreachable" };
  if (status < 200 || status > 299) {
    const { message, ...about } = errorBodyOf(status, body);
    return status === 401 ? { kind: "unauthorized", message } : { kind: "refused", message, status, ...about };
  }
  try {
    return { kind: "ok", value: (body === "" ? null : JSON.parse(body)) as Value };
  } catch {
    return { kind: "refused", message: words().unreadable, code: "", status };
  }
}

export async function request<Value>(fetch: Fetch, address: string, init: RequestInit = {}): Promise<Answer<Value>> {
  try {
    const response = await fetch(address, {
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...init,
    });
    return answerOf(response.status, await response.text());
  } catch {
    return { kind: "unreachable" };
  }
}

/** `request` with a JSON body. */
export function sendJson<Value>(fetch: Fetch, method: string, address: string, body?: unknown, timeout = TIMEOUT_MS): Promise<Answer<Value>> {
  return request<Value>(fetch, address, {
    method,
    signal: AbortSignal.timeout(timeout),
    ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  });
}

/** The sentence that explains a failed answer; empty when it succeeded. */
export function problemOf(answer: Answer<unknown>): string {
  if (answer.kind === "ok") return "";
  if (answer.kind === "unreachable") return words().noAnswer;
  return answer.kind === "refused" ? problems().told(answer.code, answer.message, answer.values) : answer.message;
}
