// One row for each model: what is loaded, on this machine, being downloaded or recommended, by how it would run here. Pure.
import { models as words } from "../language/en/models/models";
import { foldText } from "../language/fold_text";
import { currentLanguage } from "../language/language.svelte";
import type { AvailableModel, Download, Fit, LoadedModel, LocalModel, ModelsOverview } from "../wire/models/models";
import type { ModelLoad } from "./models.svelte";

/** "other": nothing is known about how it would run. */
export type Group = "well" | "slow" | "not" | "other";

export const GROUPS: readonly Group[] = ["well", "slow", "not", "other"];

export interface ModelRow {
  readonly name: string;
  readonly title: string;
  readonly group: Group;
  readonly fit: Fit | null;
  /** Bytes. */
  readonly size: number;
  readonly proposed: boolean;
  /** Its workers. */
  readonly loaded: readonly LoadedModel[];
  /** It writes replies, so it can be the default: others make vectors or scores. */
  readonly chats: boolean;
  /** It answers where no model is named. */
  readonly isDefault: boolean;
  readonly local: LocalModel | null;
  readonly known: AvailableModel | null;
  /** A download that has not ended, or ended badly. */
  readonly download: Download | null;
  /** A load that this page requested. */
  readonly load: ModelLoad | null;
  /** Bytes of an unfinished download that is not running. */
  readonly unfinished: number;
  /** Why it was not loaded at the start of the server. */
  readonly failed: string;
}

const GROUP_OF: Readonly<Record<Fit, Group>> = { card: "well", good: "well", slow: "slow", memory: "not", disk: "not" };

/** Every model once: recommended ones in their order, then all others by name. In each group, loaded models come first,
 * then the recommended one to propose, then those on this machine. */
export function modelRows(overview: ModelsOverview, loads: readonly ModelLoad[]): ModelRow[] {
  const { available, here, loaded, unfinished, remembered = [] } = overview;
  const downloads = overview.downloads.filter(({ state }) => state !== "done");
  const known = available.map(({ name }) => name);
  const others = [...here, ...loaded, ...downloads, ...unfinished, ...remembered, ...loads].map(({ name }) => name).filter((name) => !known.includes(name));
  const names = [...known, ...[...new Set(others)].sort((one, other) => one.localeCompare(other))];
  return names.map((name) => rowOf(name, overview, downloads, loads)).sort((one, other) => rank(one) - rank(other));
}

function rowOf(name: string, overview: ModelsOverview, downloads: readonly Download[], loads: readonly ModelLoad[]): ModelRow {
  const find = <Item extends { readonly name: string }>(items: readonly Item[]): Item | null => items.find((item) => item.name === name) ?? null;
  const known = find(overview.available);
  const local = find(overview.here);
  const loaded = overview.loaded.filter((worker) => worker.name === name);
  const fit = local?.fit ?? known?.fit ?? null;
  return {
    name,
    title: known?.title ?? local?.title ?? loaded[0]?.title ?? name,
    group: loaded.length > 0 && fit !== "slow" ? "well" : fit === null ? "other" : GROUP_OF[fit],
    fit,
    size: local?.size || known?.size || loaded[0]?.size || 0,
    proposed: overview.proposed === name,
    loaded,
    chats: [local, ...loaded].every((it) => (it?.task ?? "chat") === "chat"),
    isDefault: loaded.some((worker) => worker.default ?? worker === overview.loaded[0]),
    local,
    known,
    download: downloads.findLast((download) => download.name === name || download.what === name) ?? null,
    load: find(loads),
    unfinished: find(overview.unfinished)?.size ?? 0,
    failed: find(overview.remembered ?? [])?.failed ?? "",
  };
}

function rank({ loaded, proposed, local }: ModelRow): number {
  return loaded.length > 0 ? 0 : proposed ? 1 : local ? 2 : 3;
}

/** What a recommended model is good for, as a sentence. A code this page does not know makes it the server's, in English. */
export function descriptionOf({ known }: ModelRow): string {
  const told: Readonly<Record<string, string>> = words().traits;
  const traits = (known?.traits ?? []).map((trait) => told[trait]);
  if (traits.length === 0 || traits.includes(undefined)) return known?.description ?? "";
  const sentence = traits.join(", ");
  return `${sentence.charAt(0).toLocaleUpperCase()}${sentence.slice(1)}.`;
}

/** The names of its main languages, in the page's language. */
function languagesOf({ known }: ModelRow): string {
  const names = new Intl.DisplayNames([currentLanguage()], { type: "language" });
  return (known?.languages?.named ?? []).map((tag) => names.of(tag)).join(" ");
}

/** Whether every word of the filter occurs in what the row says. */
export function matchesFilter(row: ModelRow, filter: string): boolean {
  const { name, title, known } = row;
  const text = foldText([name, title, descriptionOf(row), languagesOf(row), known?.licence, ...(known?.abilities ?? [])].join(" "));
  return foldText(filter)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const SENSES: Readonly<Record<string, string>> = { vision: "image", sound: "audio" };

/** What a model can do here: what is known of it, where a file or a worker says what it takes, by that. */
export function abilitiesOf(known: readonly string[], modalities: readonly string[] | undefined): string[] {
  if (!modalities) return [...known];
  const senses = Object.keys(SENSES).filter((name) => modalities.includes(SENSES[name] ?? ""));
  return [...known.filter((name) => !(name in SENSES)), ...senses];
}
