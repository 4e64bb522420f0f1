// Parses the configuration of a new tool server from pasted JSON or a form. Pure: errors are named here, their
// sentences are in the catalogue; the server validates the rest.
import { isObject, type JsonObject } from "../wire/json";
import type { ServerConfig } from "../wire/tools/mcp";

export interface NamedConfig {
  readonly name: string;
  readonly config: ServerConfig;
}

export type ConfigFault = "empty" | "json" | "shape" | "name";
export type ParseResult = { readonly servers: readonly NamedConfig[] } | { readonly fault: ConfigFault };

const ENDPOINT_KEYS = ["command", "url", "serverUrl", "httpUrl"];

function isConfig(value: unknown): value is JsonObject {
  return isObject(value) && ENDPOINT_KEYS.some((key) => typeof value[key] === "string");
}

/** JSON copied from documentation often lacks its outer braces or ends in a comma. */
function parseLoose(text: string): unknown {
  const inner = text.trim().replace(/,$/, "");
  for (const attempt of [inner, `{${inner}}`]) {
    try {
      return JSON.parse(attempt);
    } catch {
      // Try the next form.
    }
  }
  return undefined;
}

/** The servers in pasted text: `{"mcpServers": {...}}`, servers by name, or a single configuration, which gets
 * `name`. */
export function parseServers(text: string, name = ""): ParseResult {
  if (text.trim() === "") return { fault: "empty" };
  const json = parseLoose(text);
  if (json === undefined) return { fault: "json" };
  if (!isObject(json)) return { fault: "shape" };
  if (isConfig(json)) {
    const ownName = name.trim() || (typeof json["name"] === "string" ? json["name"] : "");
    return ownName === "" ? { fault: "name" } : { servers: [{ name: ownName, config: json }] };
  }
  const byName = json["mcpServers"] ?? json["servers"] ?? json;
  if (!isObject(byName)) return { fault: "shape" };
  const servers = Object.entries(byName);
  if (servers.length === 0 || !servers.every(([, config]) => isConfig(config))) return { fault: "shape" };
  const only = servers.length === 1 && name.trim() !== "" ? name.trim() : null;
  return { servers: servers.map(([key, config]) => ({ name: only ?? key, config: config as JsonObject })) };
}

/** Fields of the form; arguments, variables and headers are one per line. */
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
  const entries: Record<string, string> = {};
  for (const line of lines(text)) {
    const at = line.indexOf(sign);
    if (at < 1) return line;
    entries[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return entries;
}

/** The configuration of a filled-in form, or its first invalid field. */
export function configOf({ name, kind, command, args, env, url, headers }: ServerForm): NamedConfig | FormFault {
  if (name.trim() === "") return { field: "name" };
  if (kind === "url") {
    if (!/^https?:\/\/\S+$/i.test(url.trim())) return { field: "url" };
    const entries = pairs(headers, ":");
    if (typeof entries === "string") return { field: "headers", line: entries };
    return { name: name.trim(), config: { url: url.trim(), ...(Object.keys(entries).length === 0 ? {} : { headers: entries }) } };
  }
  if (command.trim() === "") return { field: "command" };
  const variables = pairs(env, "=");
  if (typeof variables === "string") return { field: "env", line: variables };
  return {
    name: name.trim(),
    config: { command: command.trim(), args: lines(args), ...(Object.keys(variables).length === 0 ? {} : { env: variables }) },
  };
}
