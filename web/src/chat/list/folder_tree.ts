// Flattens nested folders into display order. Pure.
import type { Folder } from "../../wire/chat/folders";

export interface FolderNode {
  readonly folder: Folder;
  /** 0 at the top. */
  readonly depth: number;
}

/** Depth first, siblings by name. A folder whose parent is unknown is shown at the top level. */
export function folderNodes(folders: readonly Folder[]): FolderNode[] {
  const ids = new Set(folders.map(({ id }) => id));
  const within = new Map<string | null, Folder[]>();
  for (const folder of folders) {
    const parent = folder.parent && ids.has(folder.parent) ? folder.parent : null;
    within.set(parent, [...(within.get(parent) ?? []), folder]);
  }
  const lay = (parent: string | null, depth: number): FolderNode[] =>
    [...(within.get(parent) ?? [])]
      .sort((one, other) => one.name.localeCompare(other.name))
      .flatMap((folder) => [{ folder, depth }, ...lay(folder.id, depth + 1)]);
  return lay(null, 0);
}

/** Nodes at the top level or inside open folders only. */
export function visibleNodes(nodes: readonly FolderNode[], open: ReadonlySet<string>): FolderNode[] {
  let shut = Infinity;
  return nodes.filter(({ folder, depth }) => {
    if (depth > shut) return false;
    shut = open.has(folder.id) ? Infinity : depth;
    return true;
  });
}

/** Folders that another may move into: not itself or its descendants. */
export function moveTargets(id: string, nodes: readonly FolderNode[]): FolderNode[] {
  const start = nodes.findIndex(({ folder }) => folder.id === id);
  const depth = nodes[start]?.depth ?? 0;
  const after = nodes.findIndex((node, index) => index > start && node.depth <= depth);
  return nodes.filter((_, index) => index < start || (after >= 0 && index >= after));
}
