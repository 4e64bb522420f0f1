import { localised } from "../../language.svelte";

const english = {
  moveChats: (what: string) => `Move ${what}`,
  moveFolder: (name: string) => `Move folder “${name}”`,
  noFolder: "No folder",
  name: "Name",
  newFolder: "New folder",
  renameFolder: "Rename folder",
  make: "Create",
  makeAndMove: "Create and move",
  save: "Save",
  deleted: (name: string) => `Deleted folder “${name}”. Its contents were kept.`,
  tagsOf: (title: string) => `Tags of “${title}”`,
  noTags: "No tags yet",
  addTag: "Add tag",
  add: "Add",
  removeTag: (tag: string) => `Remove tag ${tag}`,
  selection: "Selected chats",
  selected: (count: number) => (count === 0 ? "None selected" : `${count} selected`),
  all: "Select all",
  none: "Clear selection",
  done: "Done",
  pinAll: "Pin",
  unpinAll: "Unpin",
};

export type ShelvingWords = typeof english;

export const shelving = (): ShelvingWords => localised("shelving", english);
