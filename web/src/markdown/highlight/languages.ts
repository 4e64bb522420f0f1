// The highlighted languages: names, aliases that models use, and file extensions.

interface Language {
  readonly aliases: readonly string[];
  readonly extension: string;
  /** Languages embedded in this one. */
  readonly embeds?: readonly string[];
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
  dockerfile: { aliases: ["docker", "containerfile"], extension: "dockerfile", embeds: ["bash"] },
  elixir: { aliases: ["ex", "exs"], extension: "ex" },
  erlang: { aliases: ["erl"], extension: "erl" },
  fortran: { aliases: ["f90", "f95"], extension: "f90" },
  fsharp: { aliases: ["f#", "fs"], extension: "fs" },
  go: { aliases: ["golang"], extension: "go" },
  graphql: { aliases: ["gql"], extension: "graphql" },
  haskell: { aliases: ["hs"], extension: "hs" },
  ini: { aliases: ["toml", "conf", "cfg", "properties"], extension: "ini" },
  java: { aliases: [], extension: "java" },
  javascript: { aliases: ["js", "jsx", "mjs", "cjs", "node"], extension: "js", embeds: ["xml"] },
  json: { aliases: ["json5", "jsonc", "jsonl"], extension: "json" },
  julia: { aliases: ["jl"], extension: "jl" },
  kotlin: { aliases: ["kt", "kts"], extension: "kt" },
  latex: { aliases: ["tex"], extension: "tex" },
  less: { aliases: [], extension: "less" },
  lisp: { aliases: ["elisp", "common-lisp"], extension: "lisp" },
  lua: { aliases: [], extension: "lua" },
  makefile: { aliases: ["make", "mk"], extension: "mk" },
  markdown: { aliases: ["md", "mdx"], extension: "md", embeds: ["xml"] },
  matlab: { aliases: ["octave"], extension: "m" },
  nginx: { aliases: [], extension: "conf" },
  objectivec: { aliases: ["objc", "objective-c"], extension: "m" },
  ocaml: { aliases: ["ml"], extension: "ml" },
  perl: { aliases: ["pl"], extension: "pl" },
  pgsql: { aliases: ["postgres", "postgresql", "plpgsql"], extension: "sql" },
  php: { aliases: [], extension: "php", embeds: ["xml"] },
  powershell: { aliases: ["ps1", "pwsh", "ps"], extension: "ps1" },
  protobuf: { aliases: ["proto"], extension: "proto" },
  python: { aliases: ["py", "python3", "py3"], extension: "py" },
  r: { aliases: [], extension: "r" },
  ruby: { aliases: ["rb"], extension: "rb" },
  rust: { aliases: ["rs"], extension: "rs" },
  scala: { aliases: ["sc"], extension: "scala" },
  scss: { aliases: ["sass"], extension: "scss" },
  shell: { aliases: ["console", "shellsession", "terminal"], extension: "txt", embeds: ["bash"] },
  sql: { aliases: ["mysql", "sqlite", "tsql"], extension: "sql" },
  swift: { aliases: [], extension: "swift" },
  typescript: { aliases: ["ts", "tsx", "mts", "cts"], extension: "ts", embeds: ["xml"] },
  vbnet: { aliases: ["vb", "visualbasic"], extension: "vb" },
  verilog: { aliases: ["systemverilog", "sv", "v"], extension: "v" },
  x86asm: { aliases: ["asm", "nasm", "assembly"], extension: "asm" },
  xml: { aliases: ["html", "xhtml", "htm", "svg", "rss", "plist", "vue", "svelte"], extension: "xml", embeds: ["css", "javascript"] },
  yaml: { aliases: ["yml"], extension: "yaml" },
} as const satisfies Record<string, Language>;

export type LanguageName = keyof typeof LANGUAGES;

/** Labels that are not a language of their own, or whose files have another extension. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  ...{ html: "html", htm: "html", xhtml: "html", svg: "svg", vue: "vue", svelte: "svelte", toml: "toml", csv: "csv", tsv: "tsv" },
  ...{ jsx: "jsx", tsx: "tsx", jsonl: "jsonl", h: "h", hpp: "hpp", cuda: "cu", sass: "sass", zsh: "zsh", fish: "fish" },
  ...{ elisp: "el", mermaid: "mmd", dot: "dot", zig: "zig", nim: "nim", nix: "nix", bat: "bat", tf: "tf", hcl: "hcl" },
};

const NAMES = new Map<string, LanguageName>(
  (Object.entries(LANGUAGES) as [LanguageName, Language][]).flatMap(([name, { aliases }]) => [name, ...aliases].map((each) => [each, name] as const)),
);

export const NAMED = Object.keys(LANGUAGES) as LanguageName[];

/** The language a code block's label stands for. */
export function languageNamed(label: string): LanguageName | null {
  return NAMES.get(label.toLowerCase()) ?? null;
}

/** The language and all it embeds, each once. */
export function withEmbedded(name: LanguageName, names = new Set<LanguageName>()): Set<LanguageName> {
  if (names.has(name)) return names;
  names.add(name);
  const { embeds = [] }: Language = LANGUAGES[name];
  for (const embedded of embeds) withEmbedded(embedded as LanguageName, names);
  return names;
}

/** File extension for code with this label, without the dot. */
export function extensionOf(label: string): string {
  const language = languageNamed(label);
  return EXTENSIONS[label.toLowerCase()] ?? (language === null ? "txt" : LANGUAGES[language].extension);
}
