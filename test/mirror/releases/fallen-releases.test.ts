import { expect, it } from "vitest";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";

type Offered = Parameters<MirrorScene["registry"]["offer"]>[1];

const [{ K, L }, owner] = await Promise.all([
  makeSigners(),
  createCertifiedSigner("Owner"),
]);
const revoked = "signature-refused: revoked";

/** A mirror that served 1.0.0 as it is offered here, and what it says once other things are offered. */
async function serve(
  offered: Offered,
  before: Readonly<Record<string, Offered>> = {},
) {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  for (const [version, other] of Object.entries(before))
    registry.offer(version, other);
  registry.offer("1.0.0", offered);
  const mirror = scene.start();
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  scene.store("a");
  const ask = (changes?: Partial<Offered>, of = mirror) => {
    if (changes) registry.offer("1.0.0", { ...offered, ...changes });
    clock.pass(freshness);
    return of.version("1.0.0");
  };
  return { scene, registry, mirror, ask };
}

const armor = (body: string) =>
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${body}\n-----END PGP PUBLIC KEY BLOCK-----\n`;

it.each<readonly [string, (key: string) => string]>([
  ["no armor at all", () => "not a key"],
  ["nothing", () => ""],
  ["noise in armor", () => armor(Buffer.alloc(300, 7).toString("base64"))],
  ["a block that is cut", (key) => key.slice(0, key.length / 2)],
  ["a key of an unknown algorithm", () => armor("xgUEZgAAAGM=")],
  ["another key", () => L.armoredPublicKey],
])(
  "a release is served on while its registry publishes %s, also after a restart and with the registry gone",
  async (_, spoil) => {
    const { scene, registry, ask } = await serve({ content: "linux=a", by: K });
    const keys = [spoil(K.armoredPublicKey)];
    expect(await ask({ keys })).toBe("linux=a");
    expect(await ask({ keys }, scene.start())).toBe("linux=a");
    registry.fail("");
    expect(await ask({ keys }, scene.start())).toBe("linux=a");
  },
);

it("a release is served on while its registry offers one that does not verify, which is told once, and cannot be approved", async () => {
  const { scene, mirror, ask } = await serve({ content: "linux=a", by: K });
  const told = () =>
    scene.audited().filter((line) => line === "replaced refused 1.0.0");
  const forged = { content: "linux=e", by: L, keys: [K.armoredPublicKey] };
  for (const one of [mirror, mirror]) {
    expect(await ask(forged, one)).toBe("linux=a");
    expect(told()).toHaveLength(1);
  }
  expect(mirror.alarmed()).toEqual(["release-replaced 1.0.0"]);
  expect(await ask({ content: "linux=f", keys: [] })).toBe("linux=a");
  expect(told()).toHaveLength(2);
  expect(await mirror.candidates()).toEqual([]);
});

it("a release gains the platforms that its registry adds, and keeps those that it lists no longer", async () => {
  const { scene, ask } = await serve({ content: "linux=a", by: K });
  const both = "darwin=b linux=a";
  expect(await ask({ content: "linux=a darwin=b" })).toBe(both);
  expect(await ask({ content: "darwin=b" })).toBe(both);
  expect(await ask({ content: "darwin=b" }, scene.start())).toBe(both);
});

it("a platform that is signed is served once it is listed, be the keys of that answer readable or not", async () => {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  registry.offer("1.0.0", { content: "linux=a", by: K });
  expect(await scene.start().index()).toBe("1.0.0");
  const wider = { content: "linux=a darwin=b", by: K };
  registry.offer("1.0.0", wider);
  const mirror = scene.start();
  // By the list that is on record.
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  registry.offer("1.0.0", { ...wider, keys: ["not a key"] });
  clock.pass(freshness);
  expect(await mirror.version("1.0.0")).toBe("darwin=b linux=a");
});

it("a release whose key its owner revokes is out of service, with other keys or without its registry, until that is taken back", async () => {
  const { scene, registry, mirror, ask } = await serve(
    { content: "linux=a", by: owner },
    { "0.9.0": { content: "linux=b", by: L } },
  );
  const { armoredPublicKey } = await owner.revoked();
  expect(await ask({ keys: [armoredPublicKey] })).toBe(revoked);
  expect(await mirror.index()).toBe("0.9.0");
  const lost = scene
    .readAudit()
    .filter(({ event }) => event === "judged-again");
  expect(lost).toMatchObject([
    {
      ...{ verdict: "refused", reason: "signature-refused" },
      ...{ version: "1.0.0", fingerprint: owner.fingerprint },
      detail: expect.stringContaining("revoked") as unknown,
    },
  ]);
  // Operators can do nothing about it.
  expect(await mirror.candidates()).toEqual([]);
  expect(await ask({ keys: [L.armoredPublicKey] })).toBe(revoked);
  registry.fail("");
  expect(await ask()).toBe(revoked);
  expect(await ask({}, scene.start({ offline: true }))).toBe(revoked);
  registry.heal();
  expect(await ask({}, scene.start())).toBe("linux=a");
  expect(await mirror.index()).toBe("1.0.0 0.9.0");
});

it("a release that was held back when its registry revoked the key stays down, also once the registry publishes other keys, and after a restart", async () => {
  const day = 86_400_000;
  const scene = await MirrorScene.prepare({ minimumAge: 7 * day });
  const { registry, clock } = scene;
  const signedAt = new Date("2021-01-01T00:00:00Z");
  registry.offer("1.0.0", { content: "linux=a", by: owner, signedAt });
  const mirror = scene.start();
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  const ask = (content: string, by = owner, keys = [by.armoredPublicKey]) => {
    registry.offer("2.0.0", { content, by, keys });
    clock.pass(freshness);
    return mirror.version("2.0.0");
  };
  expect(await ask("linux=e")).toBe("too-young");
  const { armoredPublicKey } = await owner.revoked();
  expect(await ask("linux=e", owner, [armoredPublicKey])).toBe(revoked);
  registry.offer("2.0.0", { content: "linux=b", by: L });
  clock.pass(8 * day);
  for (const one of [mirror, scene.start(), scene.start()])
    expect(await one.version("2.0.0")).toBe("key-refused: unknown");
  expect(await mirror.index()).toBe("1.0.0");
});
