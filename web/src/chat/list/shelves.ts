// Folders within folders, in the order they are shown. Pure.
import type { Folder } from "../../wire/folders";

export interface Shelf {
  readonly folder: Folder;
  /** 0 at the top. */
  readonly depth: number;
}

/** Each folder above what is in it, by name. One whose place is not known stands at the top. */
export function shelvesOf(folders: readonly Folder[]): Shelf[] {
  const known = new Set(folders.map(({ id }) => id));
  const within = new Map<string | null, Folder[]>();
  for (const folder of folders) {
    const parent = folder.parent && known.has(folder.parent) ? folder.parent : null;
    within.set(parent, [...(within.get(parent) ?? []), folder]);
  }
  const lay = (parent: string | null, depth: number): Shelf[] =>
    [...(within.get(parent) ?? [])]
      .sort((one, other) => one.name.localeCompare(other.name))
      .flatMap((folder) => [{ folder, depth }, ...lay(folder.id, depth + 1)]);
  return lay(null, 0);
}

/** Those that are in sight: in no folder, or in open ones only. */
export function visible(shelves: readonly Shelf[], open: ReadonlySet<string>): Shelf[] {
  let shut = Infinity;
  return shelves.filter(({ folder, depth }) => {
    if (depth > shut) return false;
    shut = open.has(folder.id) ? Infinity : depth;
    return true;
  });
}

/** Where a folder may go: not into itself, nor into what is in it. */
export function placesFor(id: string, shelves: readonly Shelf[]): Shelf[] {
  const start = shelves.findIndex(({ folder }) => folder.id === id);
  const depth = shelves[start]?.depth ?? 0;
  const after = shelves.findIndex((shelf, index) => index > start && shelf.depth <= depth);
  return shelves.filter((_, index) => index < start || (after >= 0 && index >= after));
}
