// Creates the state of the models for a component: the models screen, and the first screen.
import { Models } from "../../models/models.svelte";
import { ModelsClient } from "../../wire/models/models";
import type { PageContext } from "../app/context";

/** `onModelsChanged` is called beside asking the server for its models. */
export function newModels({ choices, fetch, clock, stream, server, notices }: PageContext, onModelsChanged = () => {}): Models {
  return new Models({
    client: new ModelsClient(fetch),
    clock,
    stream,
    onModelsChanged: () => {
      void server.refreshAfterChange();
      onModelsChanged();
    },
    onNewDefault: () => choices.followDefault(),
    notify: (sentence) => notices.show(sentence),
  });
}
