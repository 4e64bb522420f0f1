// The server's plain HTTP answers: what it can do, and logging in. Addresses are relative to the page, so that it
// works under any base path.

export type ServerState = "ready" | "loading" | "restarting" | "failed";

export interface Model {
  readonly name: string;
  readonly engine: string;
  readonly context: number;
  readonly parameters: number;
  readonly description: string;
  readonly bundled: boolean;
  readonly verbs: readonly string[];
}

export interface Capabilities {
  readonly version: string;
  readonly build: string | null;
  readonly state: ServerState;
  readonly detail: string;
  readonly default_model: string | null;
  readonly models: readonly Model[];
}

export type Answer<Value> =
  | { readonly kind: "ok"; readonly value: Value }
  | { readonly kind: "unauthorized"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unreachable" };

// Milliseconds after which a silent server counts as unreachable.
const PATIENCE = 10_000;

export type Fetch = (address: string, init?: RequestInit) => Promise<Response>;

async function sentence(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { error?: { message?: string } };
    if (body.error?.message) return body.error.message;
  } catch {
    // Not ours, or not JSON: a proxy's page. The status is all there is to tell.
  }
  return `The server answered with status ${response.status}.`;
}

async function ask<Value>(fetch: Fetch, address: string, init: RequestInit): Promise<Answer<Value>> {
  let response: Response;
  try {
    response = await fetch(address, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(PATIENCE), ...init });
  } catch {
    return { kind: "unreachable" };
  }
  if (response.status === 401) return { kind: "unauthorized", message: await sentence(response) };
  // A gateway that is down behind a proxy: the proxy answers in its place.
  if (response.status === 502 || response.status === 504) return { kind: "unreachable" };
  if (!response.ok) return { kind: "refused", message: await sentence(response) };
  try {
    return { kind: "ok", value: (await response.json()) as Value };
  } catch {
    return { kind: "refused", message: "The server's answer could not be read." };
  }
}

export function fetchCapabilities(fetch: Fetch): Promise<Answer<Capabilities>> {
  return ask<Capabilities>(fetch, "api/capabilities", {});
}

export function login(fetch: Fetch, key: string): Promise<Answer<unknown>> {
  return ask(fetch, "api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key }),
  });
}

/** The chat socket's address beside the page. */
export function chatAddress(page: string): string {
  const address = new URL("ws/chat", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = address.hash = "";
  return address.href;
}
