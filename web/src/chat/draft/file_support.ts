// Which files a model accepts, and what to do about one it does not. Pure. The server decides in the end and reports on
// the message.
import type { Model } from "../../wire/server/server";

export type Modality = "image" | "audio" | "video";
export type DocumentMode = "text" | "pages";

/** What matters about a file to a model. */
export interface FileInput {
  readonly mime: string;
  /** A document as text or as page images. */
  readonly given?: DocumentMode | undefined;
  /** A PDF without text. */
  readonly scan?: boolean | undefined;
}

export interface UnsupportedFile {
  readonly kind: Modality;
  /** It can be sent as text instead. */
  readonly asText: boolean;
  /** Names of models that accept it now. */
  readonly others: readonly string[];
}

type ModelSupport = Pick<Model, "name" | "modalities" | "untold" | "state">;

const PDF = "application/pdf";

export function isPdf({ mime }: Pick<FileInput, "mime">): boolean {
  return mime === PDF;
}

/** Text files, which get a preview. */
export function isText({ mime }: Pick<FileInput, "mime">): boolean {
  return /^text\/|^application\/(json|xml|yaml)$/.test(mime);
}

/** The modality a model needs for the file; null if text is enough. */
export function requiredModality({ mime, given, scan }: FileInput): Modality | null {
  if (isPdf({ mime })) return scan || given === "pages" ? "image" : null;
  return (/^(image|audio|video)\//.exec(mime)?.[1] as Modality | undefined) ?? null;
}

/** Whether the model gets something of the file, as it is or as what the server makes of it: text of sound, frames of a video.
 * `writesDown`: the server has a recogniser. A model that declares no modalities gets the file, and the server decides. */
export function accepts(model: ModelSupport | null, file: FileInput, writesDown = false): boolean {
  const modality = requiredModality(file);
  if (modality === null || !model?.modalities) return true;
  const takes = [...model.modalities, ...(model.untold ?? [])];
  if (takes.includes(modality)) return true;
  return modality === "audio" ? writesDown : modality === "video" && takes.includes("image");
}

export function unsupportedFile(file: FileInput, model: ModelSupport | null, models: readonly ModelSupport[], writesDown = false): UnsupportedFile | null {
  const kind = requiredModality(file);
  if (kind === null || accepts(model, file, writesDown)) return null;
  const isAlternative = (other: ModelSupport) => other.name !== model?.name && (other.state ?? "ready") === "ready" && other.modalities !== undefined && accepts(other, file);
  const others = models.filter(isAlternative).map(({ name }) => name);
  return { kind, asText: isPdf(file) && !file.scan, others };
}

/** How to send a document: as chosen for it, else as the user prefers if the model can; undefined: the server
 * decides. */
export function documentModeFor(mime: string, chosen: DocumentMode | undefined, preferred: DocumentMode | "auto", model: ModelSupport | null): DocumentMode | undefined {
  if (!isPdf({ mime })) return undefined;
  if (chosen) return chosen;
  if (preferred === "auto" || (preferred === "pages" && !accepts(model, { mime, given: preferred }))) return undefined;
  return preferred;
}
