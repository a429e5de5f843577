import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const source = join(import.meta.dirname, "..", "..", "src", "trust");
const core = globSync("*.ts", { cwd: source }).map((path) => ({
  path,
  text: readFileSync(join(source, path), "utf8"),
}));

it("the trust core imports addresses and verified types alone", () => {
  expect(core.length).toBeGreaterThan(5);
  const rooms = core.flatMap(({ text }) =>
    [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, target = ""]) =>
      target.startsWith("../") ? target.split("/")[1] : "trust",
    ),
  );
  expect([...new Set(rooms)].sort()).toEqual([
    ...["address", "trust", "verification"],
  ]);
});

it("the trust core has no promise, clock, file or logger", () => {
  const impure =
    /\b(?:async|await|Promise|Date\.now|new Date\(\)|performance|process|console|setTimeout|Math\.random)\b|from "node:/;
  const found = core.filter(({ text }) => impure.test(text));
  expect(found.map(({ path }) => path)).toEqual([]);
});
