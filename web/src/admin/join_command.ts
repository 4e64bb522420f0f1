// The command that has a worker of another machine join. Pure.

export interface JoinFacts {
  /** The address of the server: the one that its settings give for workers, else the page's, with its folder. */
  readonly base: string;
  /** The name under which the machine is listed. */
  readonly machine: string;
  /** A key of the role `worker`. */
  readonly key: string;
  /** The SHA-256 fingerprint of the server's certificate; empty without TLS. */
  readonly fingerprint: string;
}

/** What the server takes for the name of a machine, as the `pattern` of a field. */
export const MACHINE_NAME = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}";

export function joinCommand({ base, machine, key, fingerprint }: JoinFacts): string {
  const url = new URL(base);
  const parts = ["duologue worker", `--join ${url.origin}${url.pathname.replace(/\/+$/, "")}`, `--machine ${machine}`];
  // Over plain HTTP there is no certificate.
  if (fingerprint !== "" && url.protocol === "https:") parts.push(`--fingerprint ${fingerprint}`);
  if (url.protocol === "http:" && !isLoopback(url.hostname)) parts.push("--insecure-http");
  return `DUOLOGUE_JOIN_KEY=${key} ${parts.join(" ")}`;
}

/** Other machines cannot reach this address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
