import { expect, it } from "vitest";

import { foldText } from "../../src/language/fold_text";

it("folds case and diacritics", () => {
  expect(["Äpfel", "CRÈME brûlée", "Straße"].map(foldText)).toEqual(["apfel", "creme brulee", "straße"]);
});
