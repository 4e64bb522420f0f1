import { describe, expect, it } from "vitest";

import { type Entry, filesIn } from "../../../src/ui/composer/dropped_files";

const file = (name: string): Entry => ({ name, isFile: true, isDirectory: false, file: (take) => take(new File(["x"], name)) });

function folder(name: string, ...inside: Entry[]): Entry {
  return {
    name,
    isFile: false,
    isDirectory: true,
    // Returns entries in batches and an empty one at the end, as browsers do.
    createReader: () => {
      const left = [...inside];
      return { readEntries: (take) => take(left.splice(0, 2)) };
    },
  };
}

const names = async (entries: readonly Entry[], most = 100) => (await filesIn(entries, most)).map(({ name }) => name);

describe("dropped folders", () => {
  it("give all their files, the upper ones first", async () => {
    const tree = folder("notes", file("b.txt"), file("a.txt"), file("c.txt"), folder("old", file("z.txt")));
    expect(await names([tree, file("beside.txt")])).toEqual(["beside.txt", "a.txt", "b.txt", "c.txt", "z.txt"]);
  });

  it("keep what is hidden to themselves", async () => {
    expect(await names([folder("repository", folder(".git", file("config")), file(".env"), file("main.py"))])).toEqual(["main.py"]);
  });

  it("end at a bound, in width and in depth", async () => {
    expect(await names([folder("many", ...["1", "2", "3", "4"].map(file))], 3)).toHaveLength(3);
    let deep = folder("end", file("too deep.txt"));
    for (let level = 0; level < 20; level++) deep = folder(`level ${level}`, deep);
    expect(await names([deep])).toEqual([]);
  });

  it("leave out what cannot be read", async () => {
    const broken: Entry = { name: "broken", isFile: true, isDirectory: false, file: (_, fail) => fail(new Error()) };
    const shut: Entry = { name: "shut", isFile: false, isDirectory: true, createReader: () => ({ readEntries: (_, fail) => fail(new Error()) }) };
    expect(await names([broken, shut, file("good.txt")])).toEqual(["good.txt"]);
  });
});
