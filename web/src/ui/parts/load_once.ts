// Loads a chunk once. The bundler's `import()` searches the whole document for each of the chunk's files, every time it is
// called: in a long conversation that cost more than drawing did.

/** Calls `load` the first time, and again only after it failed. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
