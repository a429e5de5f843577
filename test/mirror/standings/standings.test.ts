import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { decide } from "../../../src/trust/decisions.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { prepareMet } from "../../scenes/met-provider.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  acme,
  freshness,
  makeSigners,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";

const { K, E } = await makeSigners();
const publisher = await createCertifiedSigner("K");
const revoked = (await publisher.revoked()).armoredPublicKey;

const refusedOf = async (mirror: MirrorInProcess) => [
  ...(await mirror.refused.list(acme)).keys(),
];

describe("a release whose key the registry revokes for a while", () => {
  async function fall() {
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    const offers = [
      ["1.0.0", "linux=a"],
      ["2.0.0", "linux=b"],
    ] as const;
    const offer = (keys: readonly string[]) => {
      for (const [version, content] of offers)
        registry.offer(version, { content, by: publisher, keys });
      clock.pass(freshness);
    };
    offer([publisher.armoredPublicKey]);
    const mirror = scene.start();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await mirror.index()).toBe("2.0.0 1.0.0");
    offer([revoked]);
    expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
    expect(await mirror.index()).not.toContain("1.0.0");
    /** Lists are asked for as clients do, while time passes. */
    const expectListed = (by: MirrorInProcess) =>
      expect
        .poll(
          () => {
            clock.pass(freshness);
            return by.index();
          },
          { interval: 300 },
        )
        .toBe("2.0.0 1.0.0");
    return {
      ...{ scene, mirror, offer, expectListed },
      heal: () => offer([publisher.armoredPublicKey]),
    };
  }

  it("is listed again though clients ask for the list alone", async () => {
    const { mirror, heal, expectListed } = await fall();
    heal();
    await expectListed(mirror);
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await refusedOf(mirror)).toEqual([]);
  });

  it("is listed again after a restart in between", async () => {
    const { scene, heal, expectListed } = await fall();
    const later = scene.start();
    expect(await later.index()).not.toContain("1.0.0");
    heal();
    await expectListed(later);
  });

  it("is served by its name as soon as the registry takes that back", async () => {
    const { mirror, heal } = await fall();
    heal();
    const { value } = await mirror.standings.lookUp(
      await mirror.request("1.0.0"),
    );
    expect(value.release.packages.size).toBe(1);
    expect(await mirror.index()).toBe("2.0.0 1.0.0");
  });

  it("stays refused while the registry publishes nothing readable", async () => {
    const { mirror, offer } = await fall();
    offer(["garbage"]);
    expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
    expect(await mirror.index()).not.toContain("1.0.0");
  });
});

describe("what is listed is served, and what is served is listed", () => {
  const versions = ["1.0.0", "2.0.0", "3.0.0"];

  /** Every version by its name, and by the list. */
  async function expectSame(mirror: MirrorInProcess) {
    const served: string[] = [];
    for (const version of versions)
      if ((await mirror.version(version)).startsWith("linux"))
        served.push(version);
    const index = await mirror.index();
    const listed = versions.filter((one) => index.includes(one));
    expect(listed).toEqual(served);
    return served;
  }

  const at = "2026-01-01T00:00:00.000Z";
  const scope = { type: null, version: null, at };

  it("after a refusal, an approval, its end, a revocation and its end", async () => {
    const { mirror, registry, clock } = await prepareMet(K);
    registry.offer("3.0.0", { content: "linux=e", by: E });
    clock.pass(freshness);
    expect(await expectSame(mirror)).toEqual(["1.0.0", "2.0.0"]);
    const { list } = await mirror.trust.readCandidates(acme);
    const sha256sums = list[0]?.sha256sums ?? "";
    const name = { type: "thing", version: "3.0.0" };
    const content = { ...name, sha256sums, at, decision: "approved" } as const;
    await mirror.trust.decide(acme, (now) => decide(now, content));
    expect(await expectSame(mirror)).toEqual(versions);
    const decideOn = (
      decision: "approved" | "revoked",
      { fingerprint }: Signer,
    ) =>
      mirror.trust.decide(acme, (now) =>
        decide(now, { ...scope, fingerprint, decision }),
      );
    await decideOn("revoked", E);
    expect(await expectSame(mirror)).toEqual(["1.0.0", "2.0.0"]);
    await decideOn("revoked", K);
    expect(await expectSame(mirror)).toEqual([]);
    await decideOn("approved", E);
    await decideOn("approved", K);
    expect(await expectSame(mirror)).toEqual(versions);
  });

  it("on a mirror that asks no registry, too", async () => {
    const { scene, mirror } = await prepareMet(K);
    for (const version of ["1.0.0", "2.0.0"]) await mirror.version(version);
    scene.store("a");
    scene.store("b");
    const offline = scene.start({ offline: true });
    expect(await expectSame(offline)).toEqual(["1.0.0", "2.0.0"]);
    for (const { fingerprint } of [E, K]) {
      await mirror.trust.decide(acme, (now) =>
        decide(now, { ...scope, fingerprint, decision: "revoked" }),
      );
      const expected = fingerprint === K.fingerprint ? [] : ["1.0.0", "2.0.0"];
      expect(await expectSame(offline)).toEqual(expected);
    }
  });
});

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
