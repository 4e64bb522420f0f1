// The languages that code blocks are coloured in: their names, the other names models give them, and how a file of one
// is called. Knows nothing of how they are read.

interface Language {
  readonly aliases: readonly string[];
  readonly extension: string;
  /** Languages that stand inside this one. */
  readonly needs?: readonly string[];
}

const LANGUAGES = {
  bash: { aliases: ["sh", "zsh", "fish"], extension: "sh" },
  c: { aliases: ["h"], extension: "c" },
  clojure: { aliases: ["clj"], extension: "clj" },
  cmake: { aliases: [], extension: "cmake" },
  cpp: { aliases: ["c++", "cc", "cxx", "hpp", "cuda"], extension: "cpp" },
  csharp: { aliases: ["c#", "cs"], extension: "cs" },
  css: { aliases: [], extension: "css" },
  dart: { aliases: [], extension: "dart" },
  diff: { aliases: ["patch"], extension: "diff" },
  dockerfile: { aliases: ["docker", "containerfile"], extension: "dockerfile", needs: ["bash"] },
  elixir: { aliases: ["ex", "exs"], extension: "ex" },
  erlang: { aliases: ["erl"], extension: "erl" },
  fortran: { aliases: ["f90", "f95"], extension: "f90" },
  fsharp: { aliases: ["f#", "fs"], extension: "fs" },
  go: { aliases: ["golang"], extension: "go" },
  graphql: { aliases: ["gql"], extension: "graphql" },
  haskell: { aliases: ["hs"], extension: "hs" },
  ini: { aliases: ["toml", "conf", "cfg", "properties"], extension: "ini" },
  java: { aliases: [], extension: "java" },
  javascript: { aliases: ["js", "jsx", "mjs", "cjs", "node"], extension: "js", needs: ["xml"] },
  json: { aliases: ["json5", "jsonc", "jsonl"], extension: "json" },
  julia: { aliases: ["jl"], extension: "jl" },
  kotlin: { aliases: ["kt", "kts"], extension: "kt" },
  latex: { aliases: ["tex"], extension: "tex" },
  less: { aliases: [], extension: "less" },
  lisp: { aliases: ["elisp", "common-lisp"], extension: "lisp" },
  lua: { aliases: [], extension: "lua" },
  makefile: { aliases: ["make", "mk"], extension: "mk" },
  markdown: { aliases: ["md", "mdx"], extension: "md", needs: ["xml"] },
  matlab: { aliases: ["octave"], extension: "m" },
  nginx: { aliases: [], extension: "conf" },
  objectivec: { aliases: ["objc", "objective-c"], extension: "m" },
  ocaml: { aliases: ["ml"], extension: "ml" },
  perl: { aliases: ["pl"], extension: "pl" },
  pgsql: { aliases: ["postgres", "postgresql", "plpgsql"], extension: "sql" },
  php: { aliases: [], extension: "php", needs: ["xml"] },
  powershell: { aliases: ["ps1", "pwsh", "ps"], extension: "ps1" },
  protobuf: { aliases: ["proto"], extension: "proto" },
  python: { aliases: ["py", "python3", "py3"], extension: "py" },
  r: { aliases: [], extension: "r" },
  ruby: { aliases: ["rb"], extension: "rb" },
  rust: { aliases: ["rs"], extension: "rs" },
  scala: { aliases: ["sc"], extension: "scala" },
  scss: { aliases: ["sass"], extension: "scss" },
  shell: { aliases: ["console", "shellsession", "terminal"], extension: "txt", needs: ["bash"] },
  sql: { aliases: ["mysql", "sqlite", "tsql"], extension: "sql" },
  swift: { aliases: [], extension: "swift" },
  typescript: { aliases: ["ts", "tsx", "mts", "cts"], extension: "ts", needs: ["xml"] },
  vbnet: { aliases: ["vb", "visualbasic"], extension: "vb" },
  verilog: { aliases: ["systemverilog", "sv", "v"], extension: "v" },
  x86asm: { aliases: ["asm", "nasm", "assembly"], extension: "asm" },
  xml: { aliases: ["html", "xhtml", "htm", "svg", "rss", "plist", "vue", "svelte"], extension: "xml", needs: ["css", "javascript"] },
  yaml: { aliases: ["yml"], extension: "yaml" },
} as const satisfies Record<string, Language>;

export type LanguageName = keyof typeof LANGUAGES;

/** Names that are no language of their own, or one whose files are called otherwise. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  ...{ html: "html", htm: "html", xhtml: "html", svg: "svg", vue: "vue", svelte: "svelte", toml: "toml", csv: "csv", tsv: "tsv" },
  ...{ jsx: "jsx", tsx: "tsx", jsonl: "jsonl", h: "h", hpp: "hpp", cuda: "cu", sass: "sass", zsh: "zsh", fish: "fish" },
  ...{ elisp: "el", mermaid: "mmd", dot: "dot", zig: "zig", nim: "nim", nix: "nix", bat: "bat", tf: "tf", hcl: "hcl" },
};

const NAMES = new Map<string, LanguageName>(
  (Object.entries(LANGUAGES) as [LanguageName, Language][]).flatMap(([name, { aliases }]) => [name, ...aliases].map((each) => [each, name] as const)),
);

export const NAMED = Object.keys(LANGUAGES) as LanguageName[];

/** The language that a block's label means. */
export function languageNamed(label: string): LanguageName | null {
  return NAMES.get(label.toLowerCase()) ?? null;
}

/** The language and those inside it, each once. */
export function withNeeded(name: LanguageName, found = new Set<LanguageName>()): Set<LanguageName> {
  if (found.has(name)) return found;
  found.add(name);
  const { needs = [] }: Language = LANGUAGES[name];
  for (const needed of needs) withNeeded(needed as LanguageName, found);
  return found;
}

/** What the name of a file with such code ends in, without the dot. */
export function extensionOf(label: string): string {
  const language = languageNamed(label);
  return EXTENSIONS[label.toLowerCase()] ?? (language === null ? "txt" : LANGUAGES[language].extension);
}
