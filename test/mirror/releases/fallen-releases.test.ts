import { describe, expect, it } from "vitest";
import { createSigner, type Signer } from "../../fakes/signing.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

const armor = (body: string) =>
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${body}\n-----END PGP PUBLIC KEY BLOCK-----\n`;

/** Key blocks that say nothing of what the first one signed. */
const unreadable: readonly [string, (key: string) => string][] = [
  ["no armor at all", () => "not a key"],
  ["nothing", () => ""],
  ["an empty block", () => armor("")],
  ["noise in armor", () => armor(Buffer.alloc(300, 7).toString("base64"))],
  ["a block that is cut", (key) => key.slice(0, key.length / 2)],
  ["another kind of block", (key) => key.replaceAll("PUBLIC KEY", "MESSAGE")],
  ["a key of an unknown algorithm", () => armor("xgUEZgAAAGM=")],
  ["a block that is too large", (key) => `${key}${"\n".repeat(3_000_000)}`],
];

describe("a stored release whose registry publishes", () => {
  it("a key block that says nothing keeps serving, also after a restart and with the registry gone", async () => {
    const namespaces = unreadable.map((_, index) => `unreadable-${index}`);
    const outcomes = () =>
      Promise.all(
        namespaces.flatMap((namespace) => [
          scene.ask(namespace).version("1.0.0").then(outcomeOf),
          scene.ask(namespace).archive("1.0.0").then(outcomeOf),
        ]),
      );
    const served = namespaces.flatMap(() => ["200", "200"]);
    const owner = await signer("Owner");
    const releases = await Promise.all(
      namespaces.map((name) => scene.publish(name, "1.0.0", owner)),
    );
    expect(await outcomes()).toEqual(served);
    for (const [index, release] of releases.entries()) {
      const spoil = unreadable[index]?.[1] ?? (() => "");
      const armoredPublicKey = spoil(owner.armoredPublicKey);
      const signingKeys: Signer[] = [{ ...owner, armoredPublicKey }];
      scene.registry.offer(release, { signingKeys });
    }
    expect(await outcomes()).toEqual(served);
    await scene.revive();
    expect(await outcomes()).toEqual(served);
    await scene.registry.stop();
    expect(await outcomes()).toEqual(served);
    await scene.registry.restart();
  });

  it("other keys alone keeps serving", async () => {
    const owner = await signer("Owner");
    const release = await scene.publish("others", "1.0.0", owner);
    expect(await scene.ask("others").delivery("1.0.0")).toBe("200");
    const other = await createSigner({ name: "Other" });
    scene.registry.offer(release, { signingKeys: [other] });
    expect(await scene.ask("others").delivery("1.0.0")).toBe("200");
  });
});

describe("a release that fell with its revoked key", () => {
  it("stays down when the registry publishes other keys", async () => {
    const namespace = "fallen";
    const owner = await createCertifiedSigner("Owner");
    const release = await scene.publish(namespace, "1.0.0", owner);
    const outcome = async () => await scene.ask(namespace).delivery("1.0.0");
    expect(await outcome()).toBe("200");
    scene.registry.offer(release, { signingKeys: [await owner.revoked()] });
    expect(await outcome()).toBe("451 signature-refused");
    const other = await createSigner({ name: "Other" });
    scene.registry.offer(release, { signingKeys: [other] });
    expect(await outcome()).toBe("451 signature-refused");
    scene.registry.offer(release, { signingKeys: [owner] });
    expect(await outcome()).toBe("200");
  });
});

describe("a release that was held back when its registry revoked the key", () => {
  it("stays down, also once the registry publishes other keys, and after a restart", async () => {
    const owner = await createCertifiedSigner("Owner");
    const { L } = await makeSigners();
    const day = 86_400_000;
    const stolen = await MirrorScene.prepare({ minimumAge: 7 * day });
    const { registry, clock } = stolen;
    const signedAt = new Date("2021-01-01T00:00:00Z");
    registry.offer("1.0.0", { content: "linux=a", by: owner, signedAt });
    const mirror = stolen.start();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    registry.offer("2.0.0", { content: "linux=e", by: owner });
    clock.pass(freshness);
    expect(await mirror.version("2.0.0")).toBe("too-young");
    const { armoredPublicKey } = await owner.revoked();
    const keys = [armoredPublicKey];
    registry.offer("2.0.0", { content: "linux=e", by: owner, keys });
    clock.pass(freshness);
    expect(await mirror.version("2.0.0")).toBe("signature-refused: revoked");
    registry.offer("2.0.0", { content: "linux=b", by: L });
    clock.pass(8 * day);
    for (const one of [stolen.start(), mirror, stolen.start()])
      expect(await one.version("2.0.0")).toBe("key-refused: unknown");
    expect(await mirror.index()).toBe("1.0.0");
  });
});
