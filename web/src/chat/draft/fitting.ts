// Which files which model can take, and what can be done about one that it cannot. Pure: a file's kind and what models
// say of themselves in, a verdict out. The server has the last word, and says it on the message.
import type { Model } from "../../wire/server";

export type Kind = "image" | "audio" | "video";
export type DocumentMode = "text" | "pages";

/** A file, as far as it matters to a model. */
export interface Thing {
  readonly mime: string;
  /** A document's text, or its pages as pictures. */
  readonly given?: DocumentMode | undefined;
}

export interface Misfit {
  readonly kind: Kind;
  /** It would do as text. */
  readonly asText: boolean;
  /** Names of models that can take it, now. */
  readonly others: readonly string[];
}

type Taker = Pick<Model, "name" | "modalities" | "state">;

const PDF = "application/pdf";

export function isPdf({ mime }: Pick<Thing, "mime">): boolean {
  return mime === PDF;
}

/** Plain text of any kind, of which a beginning can be shown. */
export function isText({ mime }: Pick<Thing, "mime">): boolean {
  return /^text\/|^application\/(json|xml|yaml)$/.test(mime);
}

/** What a model must be able to take for it; null where text will do. */
export function neededFor({ mime, given }: Thing): Kind | null {
  if (isPdf({ mime })) return given === "pages" ? "image" : null;
  return (/^(image|audio|video)\//.exec(mime)?.[1] as Kind | undefined) ?? null;
}

/** A model that does not say what it takes is asked; the answer is the server's. */
export function canTake(model: Taker | null, thing: Thing): boolean {
  const needed = neededFor(thing);
  return needed === null || !model?.modalities || model.modalities.includes(needed);
}

export function misfitOf(thing: Thing, model: Taker | null, models: readonly Taker[]): Misfit | null {
  const kind = neededFor(thing);
  if (kind === null || canTake(model, thing)) return null;
  const can = ({ name, modalities, state = "ready" }: Taker) => name !== model?.name && state === "ready" && modalities?.includes(kind);
  const others = models.filter(can).map(({ name }) => name);
  return { kind, asText: isPdf(thing), others };
}

/** How a document is given: as was chosen for it, else as the person likes it where the model can; absent, the server chooses. */
export function givenFor(mime: string, chosen: DocumentMode | undefined, liked: DocumentMode | "auto", model: Taker | null): DocumentMode | undefined {
  if (!isPdf({ mime })) return undefined;
  if (chosen) return chosen;
  if (liked === "auto" || (liked === "pages" && !canTake(model, { mime, given: liked }))) return undefined;
  return liked;
}
