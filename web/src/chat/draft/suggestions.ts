// Suggestions above the composer for what is being typed: prompts and commands after "/", resources after "@". Pure.
import { foldText } from "../../language/fold_text";
import type { Prompt, PromptArgument, Resource, ResourceTemplate, ServerPrompts, ServerResources } from "../../wire/tools/mcp_content";

export type ChatCommand = "new-chat" | "temporary-chat" | "compact" | "help";

export type SuggestionAction =
  | { readonly kind: "command"; readonly command: ChatCommand }
  | { readonly kind: "model"; readonly model: string }
  | { readonly kind: "prompt"; readonly server: string; readonly prompt: Prompt }
  | { readonly kind: "resource"; readonly server: string; readonly resource: Resource }
  | { readonly kind: "template"; readonly server: string; readonly template: ResourceTemplate };

export interface Suggestion {
  readonly id: string;
  /** Heading: a server, or a category of the page. */
  readonly group: string;
  readonly label: string;
  readonly detail: string;
  readonly action: SuggestionAction;
}

/** Longer lists are cut: the user types on to narrow them. */
const MAX_SUGGESTIONS = 50;

/** Whether a word in one of the texts starts with the query. Not the middle of a word: typed text must not match by
 * accident. */
export function matchesWordStart(query: string, ...texts: (string | undefined)[]): boolean {
  const prefix = foldText(query);
  return texts.some((text) => {
    const candidate = foldText(text ?? "");
    for (let at = candidate.indexOf(prefix); at >= 0; at = candidate.indexOf(prefix, at + 1)) {
      if (at === 0 || /[^\p{L}\p{N}]/u.test(candidate[at - 1]!)) return true;
    }
    return false;
  });
}

export interface CommandSuggestion {
  readonly group: string;
  readonly name: string;
  readonly detail: string;
  readonly action: SuggestionAction;
}

export function promptSuggestions(query: string, servers: readonly ServerPrompts[], commands: readonly CommandSuggestion[]): Suggestion[] {
  const fromServers = servers.flatMap(({ server, prompts }) =>
    prompts
      .filter(({ name, title }) => matchesWordStart(query, name, title, server))
      .map((prompt): Suggestion => {
        const { name, title = "", description = "" } = prompt;
        return { id: `${server}/${name}`, group: server, label: `/${name}`, detail: description || title, action: { kind: "prompt", server, prompt } };
      }),
  );
  const fromCommands = commands
    .filter(({ name }) => foldText(name).startsWith(foldText(query)))
    .map(({ group, name, detail, action }): Suggestion => ({ id: `command/${name}`, group, label: `/${name}`, detail, action }));
  return [...fromServers, ...fromCommands].slice(0, MAX_SUGGESTIONS);
}

export function resourceSuggestions(query: string, servers: readonly ServerResources[]): Suggestion[] {
  const suggestions = servers.flatMap(({ server, resources, templates }) => {
    const fromResources = resources
      .filter(({ uri, name, title }) => matchesWordStart(query, title, name, uri, server))
      .map((resource): Suggestion => {
        const { uri, name, title } = resource;
        return { id: `${server}/${uri}`, group: server, label: title || name || uri, detail: title || name ? uri : "", action: { kind: "resource", server, resource } };
      });
    const fromTemplates = templates
      .filter(({ template, name, title }) => templateVariables(template) !== null && matchesWordStart(query, title, name, template, server))
      .map((one): Suggestion => {
        const { template, name, title } = one;
        return { id: `${server}/${template}`, group: server, label: title || name || template, detail: template, action: { kind: "template", server, template: one } };
      });
    return [...fromResources, ...fromTemplates];
  });
  return suggestions.slice(0, MAX_SUGGESTIONS);
}

const VARIABLE = /\{([+#]?)([^{}]*)\}/g;

/** The variables of a URI template as prompt arguments; null for operators that are not supported. */
export function templateVariables(template: string): PromptArgument[] | null {
  const names = [...template.matchAll(VARIABLE)].map(([, , name = ""]) => name);
  if (names.some((name) => !/^\w[\w.]*$/.test(name))) return null;
  return [...new Set(names)].map((name) => ({ name, required: true }));
}

/** Expands a URI template; `{+name}` and `{#name}` keep slashes unescaped. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (_, sign: string, name: string) => {
    const value = values[name] ?? "";
    return sign === "" ? encodeURIComponent(value) : `${sign === "#" ? "#" : ""}${encodeURI(value)}`;
  });
}

/** The messages of a prompt as one text to edit. */
export function promptText(messages: readonly { readonly text: string }[]): string {
  return messages
    .map(({ text }) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Suggestions by heading, in the order of first occurrence. */
export function groupSuggestions(suggestions: readonly Suggestion[]): { readonly group: string; readonly suggestions: readonly Suggestion[] }[] {
  const groups = new Map<string, Suggestion[]>();
  for (const suggestion of suggestions) groups.set(suggestion.group, [...(groups.get(suggestion.group) ?? []), suggestion]);
  return [...groups].map(([group, inside]) => ({ group, suggestions: inside }));
}
