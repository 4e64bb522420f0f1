// Collects the files of dropped folders, up to a limit and without hidden ones. No DOM.

/** The part of the browser's FileSystemEntry that is used. */
export interface Entry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  file?(take: (file: File) => void, fail: (error: unknown) => void): void;
  createReader?(): { readEntries(take: (entries: Entry[]) => void, fail: (error: unknown) => void): void };
}

/** Depth of nested folders that are read. */
const MAX_DEPTH = 8;

/** At most `most` files, those of upper folders first. Unreadable entries are skipped. */
export async function filesIn(entries: readonly Entry[], most: number): Promise<File[]> {
  const files: File[] = [];
  let level = [...entries];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: Entry[] = [];
    for (const entry of level) {
      if (files.length >= most) return files;
      if (entry.isDirectory) next.push(...(await entriesIn(entry, most)));
      else {
        const file = await fileOf(entry);
        if (file) files.push(file);
      }
    }
    level = next.filter(({ name }) => !name.startsWith("."));
  }
  return files;
}

function fileOf(entry: Entry): Promise<File | null> {
  return new Promise((resolve) => {
    if (entry.isFile && entry.file) entry.file(resolve, () => resolve(null));
    else resolve(null);
  });
}

/** A directory reader returns batches; an empty one is the end. */
async function entriesIn(folder: Entry, most: number): Promise<Entry[]> {
  const reader = folder.createReader?.();
  const entries: Entry[] = [];
  while (reader && entries.length < 4 * most) {
    const batch = await new Promise<Entry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (batch.length === 0) break;
    entries.push(...batch);
  }
  return entries.sort((one, other) => one.name.localeCompare(other.name));
}
