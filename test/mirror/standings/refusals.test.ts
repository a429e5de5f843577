import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { prepareMet } from "../../scenes/met-provider.ts";
import {
  acme,
  freshness,
  makeSigners,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";

const { K, E } = await makeSigners();

const refusedOf = async (mirror: MirrorInProcess) => [
  ...(await mirror.refused.list(acme)).keys(),
];

describe("what is noted as refused", () => {
  it("is bounded by the list: a version that no list has is not noted", async () => {
    const { mirror, registry, clock } = await prepareMet(K);
    for (let n = 0; n < 30; n++)
      expect(await mirror.version(`9.0.${n}`)).toBe("not-found");
    registry.offer("8.0.0", { content: "linux=e", by: E });
    registry.hide("8.0.0");
    clock.pass(freshness);
    expect(await mirror.version("8.0.0")).toBe("not-found");
    expect(await refusedOf(mirror)).toEqual([]);
  });

  it("is no release that the registry failed to tell of, nor one that could not be written", async () => {
    const { mirror, registry } = await prepareMet(K);
    registry.offer("3.0.0", { content: "linux=c", by: K });
    registry.fail(
      "release thing 2.0.0",
      failure("origin-status", "https://x/", 500),
    );
    mirror.writes.let((name) =>
      name.includes("releases/1.0.0") ? "fails" : undefined,
    );
    await mirror.version("2.0.0");
    await mirror.version("1.0.0");
    expect(await refusedOf(mirror)).toEqual([]);
  });

  it("is no release that is too young", async () => {
    const { scene } = await prepareMet(K);
    const patient = scene.start({ minimumAge: 86_400_000 });
    expect(await patient.version("2.0.0")).toMatch(/^too-young/);
    expect(await refusedOf(patient)).toEqual([]);
  });

  it("is a listed release that is refused, until it is served", async () => {
    const { mirror, registry, clock } = await prepareMet(K);
    registry.offer("3.0.0", { content: "linux=e", by: E });
    clock.pass(freshness);
    await mirror.version("3.0.0");
    expect(await refusedOf(mirror)).toEqual(["3.0.0"]);
    registry.offer("3.0.0", { content: "linux=c", by: K });
    clock.pass(freshness);
    await mirror.version("3.0.0");
    expect(await refusedOf(mirror)).toEqual([]);
  });
});
