// What the list over the composer shows for what was typed: prompts and commands after "/", resources after "@". Pure.
import type { Prompt, PromptArgument, Resource, ResourceTemplate, ServerPrompts, ServerResources } from "../../wire/mcp_content";

export type Command = "new-chat" | "temporary-chat" | "compact";

export type Deed =
  | { readonly do: "command"; readonly command: Command }
  | { readonly do: "model"; readonly model: string }
  | { readonly do: "prompt"; readonly server: string; readonly prompt: Prompt }
  | { readonly do: "resource"; readonly server: string; readonly resource: Resource }
  | { readonly do: "template"; readonly server: string; readonly template: ResourceTemplate };

export interface Entry {
  readonly id: string;
  /** What it stands under: a server, or a heading of the page. */
  readonly group: string;
  readonly label: string;
  readonly detail: string;
  readonly deed: Deed;
}

/** So many are shown; who wants another types on. */
const MOST = 50;

function plain(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();
}

/** Some word of it begins so. Not its middle: what happens to be typed is not to be taken for a choice. */
export function begins(query: string, ...texts: (string | undefined)[]): boolean {
  const wanted = plain(query);
  return texts.some((text) => {
    const inside = plain(text ?? "");
    for (let at = inside.indexOf(wanted); at >= 0; at = inside.indexOf(wanted, at + 1)) {
      if (at === 0 || /[^\p{L}\p{N}]/u.test(inside[at - 1]!)) return true;
    }
    return false;
  });
}

export interface Commanded {
  readonly group: string;
  readonly name: string;
  readonly detail: string;
  readonly deed: Deed;
}

export function promptEntries(query: string, servers: readonly ServerPrompts[], commands: readonly Commanded[]): Entry[] {
  const offered = servers.flatMap(({ server, prompts }) =>
    prompts
      .filter(({ name, title }) => begins(query, name, title, server))
      .map((prompt): Entry => {
        const { name, title = "", description = "" } = prompt;
        return { id: `${server}/${name}`, group: server, label: `/${name}`, detail: description || title, deed: { do: "prompt", server, prompt } };
      }),
  );
  const own = commands
    .filter(({ name }) => plain(name).startsWith(plain(query)))
    .map(({ group, name, detail, deed }): Entry => ({ id: `command/${name}`, group, label: `/${name}`, detail, deed }));
  return [...offered, ...own].slice(0, MOST);
}

export function resourceEntries(query: string, servers: readonly ServerResources[]): Entry[] {
  const entries = servers.flatMap(({ server, resources, templates }) => {
    const listed = resources
      .filter(({ uri, name, title }) => begins(query, title, name, uri, server))
      .map((resource): Entry => {
        const { uri, name, title } = resource;
        return { id: `${server}/${uri}`, group: server, label: title || name || uri, detail: title || name ? uri : "", deed: { do: "resource", server, resource } };
      });
    const patterns = templates
      .filter(({ template, name, title }) => variablesOf(template) !== null && begins(query, title, name, template, server))
      .map((one): Entry => {
        const { template, name, title } = one;
        return { id: `${server}/${template}`, group: server, label: title || name || template, detail: template, deed: { do: "template", server, template: one } };
      });
    return [...listed, ...patterns];
  });
  return entries.slice(0, MOST);
}

const VARIABLE = /\{([+#]?)([^{}]*)\}/g;

/** What has to be said to fill a pattern in; null for a pattern of a kind that is not known here. */
export function variablesOf(template: string): PromptArgument[] | null {
  const names = [...template.matchAll(VARIABLE)].map(([, , name = ""]) => name);
  if (names.some((name) => !/^\w[\w.]*$/.test(name))) return null;
  return [...new Set(names)].map((name) => ({ name, required: true }));
}

/** The address that a pattern stands for; `{+name}` and `{#name}` keep slashes as they are. */
export function expanded(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (_, sign: string, name: string) => {
    const value = values[name] ?? "";
    return sign === "" ? encodeURIComponent(value) : `${sign === "#" ? "#" : ""}${encodeURI(value)}`;
  });
}

/** What a filled in prompt says, as one text to go on with. */
export function promptText(messages: readonly { readonly text: string }[]): string {
  return messages
    .map(({ text }) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n");
}

/** The entries under their headings, in the order of the first of each. */
export function grouped(entries: readonly Entry[]): { readonly group: string; readonly entries: readonly Entry[] }[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups].map(([group, inside]) => ({ group, entries: inside }));
}
