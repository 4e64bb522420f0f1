// What is particular to Spanish: its plurals, its agreement and its marks.
import { expect, it } from "vitest";

import { spanish } from "../../src/language/es";

it("counts millions of things, and a few things", () => {
  const { million, billion } = spanish.thread.figures;
  expect([billion("7,6"), million("1"), million("1,5"), "512"].map(spanish.composer.parameters)).toEqual([
    "7,6\u00a0mil\u00a0millones de parámetros",
    "1\u00a0millón de parámetros",
    "1,5\u00a0millones de parámetros",
    "512 parámetros",
  ]);
});

it("agrees with one chat and with several", () => {
  const { quoted, chats, deleted, movedOut } = spanish.sidebar;
  expect([quoted("12 ideas"), chats(1), chats(3)].map(deleted)).toEqual(["Se eliminó “12 ideas”.", "Se eliminó 1 chat.", "Se eliminaron 3 chats."]);
  expect(movedOut(chats(2))).toBe("Se sacaron 2 chats de sus carpetas.");
});

it("opens a question that goes on around the name of a tool", () => {
  const { may, run } = spanish.beside;
  expect(`${may("")}fetch${run("")}`).toBe("¿Permitir que fetch se ejecute?");
  expect(`${may("notes")}fetch${run("notes")}`).toBe("¿Permitir que notes ejecute fetch?");
});

it("says how many languages a model knows", () => {
  expect([spanish.models.languages(119, false), spanish.models.languages(11, true)]).toEqual(["119 idiomas", "11 idiomas o más"]);
});
