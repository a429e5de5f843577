import { expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { listVanished } from "../../../src/mirror/standings/refusals.ts";
import {
  acme,
  freshness,
  makeSigners,
  prepareMet,
} from "../../scenes/mirror-in-process.ts";

const { K, E } = await makeSigners();

it("what is noted as refused is what a list has, until it is served: nothing that no list has", async () => {
  const { mirror, registry, clock } = await prepareMet(K);
  const refused = async () => [...(await mirror.refused.list(acme)).keys()];
  for (let n = 0; n < 30; n++)
    expect(await mirror.version(`9.0.${n}`)).toBe("not-found");
  registry.offer("8.0.0", { content: "linux=e", by: E });
  registry.hide("8.0.0");
  registry.offer("3.0.0", { content: "linux=e", by: E });
  clock.pass(freshness);
  expect(await mirror.version("8.0.0")).toBe("not-found");
  expect(await mirror.version("3.0.0")).toBe("key-refused: unknown");
  expect(await refused()).toEqual(["3.0.0"]);
  registry.offer("3.0.0", { content: "linux=c", by: K });
  clock.pass(freshness);
  await mirror.version("3.0.0");
  expect(await refused()).toEqual([]);
});

it.each([
  ["all at once", "3@0 2@1 1@59", "3.0.0 2.0.0 1.0.0"],
  ["within more than an hour", "3@0 2@1 1@61", ""],
  ["but for one", "3@0 1@0", ""],
])(
  "versions whose documents are gone vanished together: %s",
  (_, gone, told) => {
    const newest = ["3.0.0", "2.0.0", "1.0.0", "0.9.0"].map(parseVersion);
    const refusals = gone.split(" ").map((one) => {
      const [major, minute] = one.split("@").map(Number);
      const since = new Date(Date.UTC(2026, 0, 1, 0, minute));
      return [`${major}.0.0`, { code: "not-found", since }] as const;
    });
    expect(listVanished(newest, new Map(refusals)).join(" ")).toBe(told);
  },
);
