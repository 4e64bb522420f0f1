// Which files which model can take, and what can be done about one that it cannot. Pure: a file's kind and what models
// say of themselves in, a verdict out. The server has the last word, and says it on the message.
import type { Model } from "../../wire/server";

export type Modality = "image" | "audio" | "video";
export type DocumentMode = "text" | "pages";

/** A file, as far as it matters to a model. */
export interface FileInput {
  readonly mime: string;
  /** A document's text, or its pages as pictures. */
  readonly given?: DocumentMode | undefined;
}

export interface UnsupportedFile {
  readonly kind: Modality;
  /** It would do as text. */
  readonly asText: boolean;
  /** Names of models that can take it, now. */
  readonly others: readonly string[];
}

type ModelSupport = Pick<Model, "name" | "modalities" | "state">;

const PDF = "application/pdf";

export function isPdf({ mime }: Pick<FileInput, "mime">): boolean {
  return mime === PDF;
}

/** Plain text of any kind, of which a beginning can be shown. */
export function isText({ mime }: Pick<FileInput, "mime">): boolean {
  return /^text\/|^application\/(json|xml|yaml)$/.test(mime);
}

/** What a model must be able to take for it; null where text will do. */
export function requiredModality({ mime, given }: FileInput): Modality | null {
  if (isPdf({ mime })) return given === "pages" ? "image" : null;
  return (/^(image|audio|video)\//.exec(mime)?.[1] as Modality | undefined) ?? null;
}

/** A model that does not say what it takes is asked; the answer is the server's. */
export function accepts(model: ModelSupport | null, file: FileInput): boolean {
  const modality = requiredModality(file);
  return modality === null || !model?.modalities || model.modalities.includes(modality);
}

export function unsupportedFile(file: FileInput, model: ModelSupport | null, models: readonly ModelSupport[]): UnsupportedFile | null {
  const kind = requiredModality(file);
  if (kind === null || accepts(model, file)) return null;
  const isAlternative = ({ name, modalities, state = "ready" }: ModelSupport) => name !== model?.name && state === "ready" && modalities?.includes(kind);
  const others = models.filter(isAlternative).map(({ name }) => name);
  return { kind, asText: isPdf(file), others };
}

/** How a document is given: as was chosen for it, else as the person likes it where the model can; absent, the server chooses. */
export function documentModeFor(mime: string, chosen: DocumentMode | undefined, preferred: DocumentMode | "auto", model: ModelSupport | null): DocumentMode | undefined {
  if (!isPdf({ mime })) return undefined;
  if (chosen) return chosen;
  if (preferred === "auto" || (preferred === "pages" && !accepts(model, { mime, given: preferred }))) return undefined;
  return preferred;
}
