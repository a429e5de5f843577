import { expect, it } from "vitest";
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
