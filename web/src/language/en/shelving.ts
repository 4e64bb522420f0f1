import { localised } from "../language.svelte";

const english = {
  moveChats: (what: string) => `Move ${what}`,
  moveFolder: (name: string) => `Move the folder “${name}”`,
  noFolder: "In no folder",
  name: "Name",
  newFolder: "New folder",
  renameFolder: "Rename the folder",
  make: "Make",
  makeAndMove: "Make and move",
  save: "Save",
  deleted: (name: string) => `Deleted the folder “${name}”. What was in it is kept.`,
  tagsOf: (title: string) => `Tags of “${title}”`,
  noTags: "No tags yet.",
  addTag: "Add a tag",
  add: "Add",
  removeTag: (tag: string) => `Remove the tag ${tag}`,
  selection: "Selected chats",
  selected: (count: number) => (count === 0 ? "Nothing selected" : `${count} selected`),
  all: "Select all shown",
  none: "Select none",
  done: "Done",
  pinAll: "Pin",
  unpinAll: "Unpin",
};

export type ShelvingWords = typeof english;

export const shelving = (): ShelvingWords => localised("shelving", english);
