import { describe, expect, it } from "vitest";
import { createSigner, type Signer } from "../../fakes/signing.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
  type SceneSettings,
} from "../../scenes/mirror-in-process.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

const stranger = await createSigner({ name: "Stranger" });
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
  ["another key", () => stranger.armoredPublicKey],
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
});

it("a release whose key its owner revokes is out of service, with other keys, another origin or none, until that is taken back", async () => {
  const owner = await createCertifiedSigner("Owner");
  await scene.publish("fallen", "0.9.0", await signer("Still good"));
  const release = await scene.publish("fallen", "1.0.0", owner);
  const delivery = () => scene.ask("fallen").delivery("1.0.0");
  expect(await scene.ask("fallen").outcome("0.9.0")).toBe("200");
  expect(await delivery()).toBe("200");
  scene.registry.offer(release, { signingKeys: [await owner.revoked()] });
  const refused = "451 signature-refused";
  expect(await scene.ask("fallen").outcome("1.0.0")).toBe(refused);
  expect(await delivery()).toBe(refused);
  expect(await scene.ask("fallen").listed()).toEqual(["0.9.0"]);
  expect(scene.auditOf("fallen", "judged-again")).toMatchObject([
    {
      ...{ verdict: "refused", reason: "signature-refused" },
      ...{ version: "1.0.0", fingerprint: owner.fingerprint },
      detail: expect.stringContaining("revoked") as unknown,
    },
  ]);
  // Operators can do nothing about it.
  expect(await scene.candidatesOf("fallen")).toEqual([]);
  scene.registry.offer(release, { signingKeys: [stranger] });
  expect(await delivery()).toBe(refused);
  await scene.registry.stop();
  expect(await delivery()).toBe(refused);
  await scene.revive({ offline: true });
  expect(await delivery()).toBe(refused);
  await scene.registry.restart();
  await scene.revive();
  scene.registry.offer(release);
  expect(await scene.ask("fallen").outcome("1.0.0")).toBe("200");
  expect(await scene.ask("fallen").listed()).toEqual(["0.9.0", "1.0.0"]);
});

describe("other terms decide again at the next start, also on what is stored, and are undone by those of before", () => {
  const stored = async (
    settings: Partial<SceneSettings>,
    offered: Parameters<MirrorScene["registry"]["offer"]>[1],
    terms: Partial<SceneSettings>,
  ) => {
    const own = await MirrorScene.prepare(settings);
    own.registry.offer("1.0.0", offered);
    expect(await own.start().version("1.0.0")).toBe("linux=a");
    own.store("a");
    const answers = [];
    for (const change of [terms, { ...terms, offline: true }, {}])
      answers.push(await own.start(change).version("1.0.0"));
    return answers;
  };

  it("of the profile", async () => {
    const owner = await createCertifiedSigner("Owner");
    const keys = [(await owner.expired()).armoredPublicKey];
    const offered = { content: "linux=a", by: owner, keys };
    const refused = "signature-refused: key-expired";
    const terms = { profile: "enforce" } as const;
    expect(await stored({}, offered, terms)).toEqual([
      ...[refused, refused, "linux=a"],
    ]);
  });

  it("of unsigned releases", async () => {
    const excused = { signatures: "when-published" } as const;
    const terms = { signatures: "required" } as const;
    const missing = "signature-missing";
    expect(await stored(excused, { content: "linux=a" }, terms)).toEqual([
      ...[missing, missing, "linux=a"],
    ]);
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
