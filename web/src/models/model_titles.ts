// The name of a model as people write it: one for the whole page. Pure.

export interface TitleFacts {
  /** Models of the server, each perhaps with a title. */
  readonly models: readonly { readonly name: string; readonly title?: string }[];
  /** Other names of models. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Titles of known models, loaded or not. */
  readonly titles?: Readonly<Record<string, string>>;
}

/** The title of the model with this name or alias, with the name where two models of the server share a title; the name of an
 * unknown model. */
export function modelTitle(name: string, { models, aliases = {}, titles = {} }: TitleFacts): string {
  const titleOf = (model: string) => models.find((one) => one.name === model)?.title || (Object.hasOwn(titles, model) ? titles[model]! : model);
  const own = models.some((one) => one.name === name) || !Object.hasOwn(aliases, name) ? name : aliases[name]!;
  const title = titleOf(own);
  const shared = title !== own && models.some((one) => one.name !== own && titleOf(one.name) === title);
  return shared ? `${title} (${own})` : title;
}
