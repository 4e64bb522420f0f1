// A tool server somebody wants to add: from JSON that was pasted, or from a form. Pure: what is wrong is named, the
// sentence is the catalogue's; whether the server takes it, the server says.
import type { ServerConfig } from "../wire/mcp";

export interface NamedConfig {
  readonly name: string;
  readonly config: ServerConfig;
}

export type ConfigFault = "empty" | "json" | "shape" | "name";
export type Found = { readonly servers: readonly NamedConfig[] } | { readonly fault: ConfigFault };

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const WAYS = ["command", "url", "serverUrl", "httpUrl"];

function isConfig(value: unknown): value is Plain {
  return isPlain(value) && WAYS.some((way) => typeof value[way] === "string");
}

/** JSON from another program's documentation: often without its outer braces, or with a comma at the end. */
function parsed(text: string): unknown {
  const inner = text.trim().replace(/,$/, "");
  for (const attempt of [inner, `{${inner}}`]) {
    try {
      return JSON.parse(attempt);
    } catch {
      // The next attempt, or none.
    }
  }
  return undefined;
}

/** The servers in a pasted text: `{"mcpServers": {...}}`, servers by name, or one server without its name, which is
 * `name` then. */
export function serversIn(text: string, name = ""): Found {
  if (text.trim() === "") return { fault: "empty" };
  const whole = parsed(text);
  if (whole === undefined) return { fault: "json" };
  if (!isPlain(whole)) return { fault: "shape" };
  if (isConfig(whole)) {
    const own = name.trim() || (typeof whole["name"] === "string" ? whole["name"] : "");
    return own === "" ? { fault: "name" } : { servers: [{ name: own, config: whole }] };
  }
  const byName = whole["mcpServers"] ?? whole["servers"] ?? whole;
  if (!isPlain(byName)) return { fault: "shape" };
  const servers = Object.entries(byName);
  if (servers.length === 0 || !servers.every(([, config]) => isConfig(config))) return { fault: "shape" };
  const only = servers.length === 1 && name.trim() !== "" ? name.trim() : null;
  return { servers: servers.map(([called, config]) => ({ name: only ?? called, config: config as Plain })) };
}

/** What a form asks for; arguments, variables and headers one a line. */
export interface ServerForm {
  readonly name: string;
  readonly kind: "command" | "url";
  readonly command: string;
  readonly args: string;
  readonly env: string;
  readonly url: string;
  readonly headers: string;
}

export type FormFault = { readonly field: "name" | "command" | "url" } | { readonly field: "env" | "headers"; readonly line: string };

function lines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function pairs(text: string, sign: string): Record<string, string> | string {
  const found: Record<string, string> = {};
  for (const line of lines(text)) {
    const at = line.indexOf(sign);
    if (at < 1) return line;
    found[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return found;
}

/** What a filled-in form says, or the first field that is wrong. */
export function configOf({ name, kind, command, args, env, url, headers }: ServerForm): NamedConfig | FormFault {
  if (name.trim() === "") return { field: "name" };
  if (kind === "url") {
    if (!/^https?:\/\/\S+$/i.test(url.trim())) return { field: "url" };
    const sent = pairs(headers, ":");
    if (typeof sent === "string") return { field: "headers", line: sent };
    return { name: name.trim(), config: { url: url.trim(), ...(Object.keys(sent).length === 0 ? {} : { headers: sent }) } };
  }
  if (command.trim() === "") return { field: "command" };
  const set = pairs(env, "=");
  if (typeof set === "string") return { field: "env", line: set };
  return {
    name: name.trim(),
    config: { command: command.trim(), args: lines(args), ...(Object.keys(set).length === 0 ? {} : { env: set }) },
  };
}
