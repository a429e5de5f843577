import { expect, it } from "vitest";
import {
  makeContacts,
  takeBundled,
  type JudgedRelease,
} from "../../../src/mirror/bundles/import-bundle.ts";
import { verifyOffer } from "../../../src/mirror/releases/evidence.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";
import { TestRegistry } from "../../scenes/test-registry.ts";

const { K, L, E } = await makeSigners();

/** A release of a bundle as an import judged it. */
async function judge(
  mirror: MirrorInProcess,
  version: string,
  offered: Omit<Parameters<TestRegistry["offer"]>[1], "content">,
  type = "thing",
): Promise<JudgedRelease> {
  const sender = new TestRegistry();
  sender.offer(version, { content: "linux=a", ...offered }, type);
  const request = await mirror.request(version, type);
  const { address, provider } = request;
  const found = await sender.findPackage(provider, address.version);
  const fetched = await sender.fetchChecksums(found);
  const evidence = await verifyOffer(mirror.origin, address, found, fetched);
  return { request, evidence, platforms: ["linux_amd64"], packages: [] };
}

async function importInto(
  { events, notebook }: MirrorInProcess,
  judged: readonly Promise<JudgedRelease>[],
): Promise<void> {
  const { clock } = notebook;
  await makeContacts({ events, clock }, await Promise.all(judged));
}

const contactOf = async (mirror: MirrorInProcess, type = "thing") => {
  const { entry } = await mirror.request("1.0.0", type);
  return entry.findContact(type);
};

it("a bundle is the first contact of each provider in it: its versions, its keys, and the signer of the newest", async () => {
  const scene = await MirrorScene.prepare();
  const mirror = scene.start();
  const keys = [K.armoredPublicKey, L.armoredPublicKey];
  await importInto(mirror, [
    judge(mirror, "2.0.0", { by: K, keys }),
    judge(mirror, "1.0.0", { by: L }),
    judge(mirror, "3.0.0-rc1", { by: L }),
    judge(mirror, "1.0.0", { by: L }, "other"),
  ]);
  expect(await contactOf(mirror)).toMatchObject({
    ...{ by: "bundle", key: K.fingerprint, newest: "2.0.0" },
    versions: new Set(["1.0.0", "2.0.0", "3.0.0-rc1"]),
    published: new Set([K.fingerprint, L.fingerprint]),
  });
  expect((await contactOf(mirror, "other"))?.key).toBe(L.fingerprint);
  // Another key than the namespace's.
  expect(mirror.alarmed()).toEqual(["key-new 1.0.0"]);
  expect(scene.audited()).toEqual([
    "new-key accepted 2.0.0",
    "new-key accepted 1.0.0",
  ]);
});

it("a bundle is no first contact where a list was first", async () => {
  const scene = await MirrorScene.prepare();
  scene.registry.offer("1.0.0", { content: "linux=a", by: K });
  const mirror = scene.start();
  await mirror.version("1.0.0");
  await importInto(mirror, [judge(mirror, "9.0.0", { by: E })]);
  expect(await contactOf(mirror)).toMatchObject({
    ...{ by: "list", versions: new Set(["1.0.0"]) },
  });
});

it("a list after a bundle is no first contact: a back-dated release of another key counts where the bundle named its version, with an alarm, and is refused otherwise", async () => {
  const signedAt = new Date("2021-01-01T00:00:00Z");
  const scene = await MirrorScene.prepare();
  const imported = scene.start({ offline: true });
  await importInto(imported, [judge(imported, "1.0.0", { by: K })]);
  const mirror = scene.start();
  for (const version of ["1.0.0", "9.0.0"])
    scene.registry.offer(version, { content: "linux=e", by: E, signedAt });
  expect(await mirror.index()).toBe("1.0.0");
  expect(await mirror.version("1.0.0")).toBe("linux=e");
  expect(await mirror.version("9.0.0")).toBe("key-refused: unknown");
  expect(mirror.alarmed().toSorted()).toEqual([
    ...["key-new 1.0.0", "key-refused 9.0.0"],
  ]);
});

it("a bundled signature is judged by the registry's keys: at once where they are known, and else at the next look-up", async () => {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  const mirror = scene.start();
  const K = await createCertifiedSigner("K");
  const keys = [(await K.revoked()).armoredPublicKey];
  const offered = { content: "linux=a", by: K };
  for (const version of ["0.9.0", "1.0.0"]) registry.offer(version, offered);
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  for (const version of ["0.9.0", "1.0.0"])
    registry.offer(version, { ...offered, keys });
  clock.pass(freshness);
  expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
  const more = `${"0".repeat(64)}  manifest.json\n`;
  const take = async (version: string) => {
    const judged = await judge(mirror, version, { by: K, more });
    const { releases } = mirror.catalog;
    const { address } = judged.request;
    const taken = await takeBundled(await releases.peek(address), judged);
    await releases.replace(address, taken, (ours) => Promise.resolve(ours));
    return taken.trust.evidence.at(-1)?.isGood;
  };
  expect(await take("1.0.0")).toBe(false);
  expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
  expect(await take("0.9.0")).toBe(true);
  clock.pass(freshness);
  expect(await mirror.version("0.9.0")).toBe("signature-refused: revoked");
});
