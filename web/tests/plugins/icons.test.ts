import { expect, it } from "vitest";

import { squareIcon } from "../../plugins/icons.ts";

const MARK = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M0 0" /></svg>';

it("puts the mark into the middle of a square", () => {
  expect(squareIcon(MARK, { share: 0.6 })).toContain('<svg x="20" y="20" width="60" height="60" ');
  expect(squareIcon(MARK, { share: 0.6 })).not.toContain("<rect");
});

it("puts paper below it where nothing may shine through", () => {
  expect(squareIcon(MARK, { share: 1, background: "#fff" })).toContain('<rect width="100" height="100" fill="#fff" />');
});
