import { describe, expect, it } from "vitest";
import {
  makeContacts,
  takeBundled,
  type JudgedRelease,
} from "../../../src/mirror/bundles/import-bundle.ts";
import { verifyOffer } from "../../../src/mirror/releases/known-release.ts";
import type { Signer } from "../../fakes/signing.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";
import { TestRegistry } from "../../scenes/test-registry.ts";

const { K, L, E } = await makeSigners();

/** A release in a bundle. */
interface Bundled {
  readonly version: string;
  readonly by: Signer;
  readonly type?: string;
  readonly keys?: readonly string[];
  /** A line more in SHA256SUMS. */
  readonly more?: string;
}

/** A release as an import judged it. */
async function judge(
  mirror: MirrorInProcess,
  { version, type = "thing", ...offered }: Bundled,
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
  mirror: MirrorInProcess,
  ...bundled: readonly Bundled[]
): Promise<void> {
  const { events, notebook } = mirror;
  const judged = await Promise.all(bundled.map((one) => judge(mirror, one)));
  await makeContacts({ events, clock: notebook.clock }, judged);
}

const contactOf = async (mirror: MirrorInProcess, type = "thing") => {
  const { entry } = await mirror.request("1.0.0", type);
  return entry.findContact(type);
};

describe("first contact by a bundle", () => {
  it("has the versions and keys that the bundle carries, and the signer of the newest", async () => {
    const mirror = (await MirrorScene.prepare()).start();
    const keys = [K.armoredPublicKey, L.armoredPublicKey];
    await importInto(
      mirror,
      { version: "2.0.0", by: K, keys },
      { version: "1.0.0", by: L },
      { version: "3.0.0-rc1", by: L },
    );
    expect(await contactOf(mirror)).toMatchObject({
      ...{ by: "bundle", key: K.fingerprint, newest: "2.0.0" },
      versions: new Set(["1.0.0", "2.0.0", "3.0.0-rc1"]),
      published: new Set([K.fingerprint, L.fingerprint]),
    });
  });

  it("is made for each provider of it, and reported where it is under another key than the namespace's", async () => {
    const scene = await MirrorScene.prepare();
    const mirror = scene.start();
    await importInto(
      mirror,
      { version: "1.0.0", by: K },
      { version: "1.0.0", by: L, type: "other" },
    );
    expect((await contactOf(mirror))?.key).toBe(K.fingerprint);
    expect((await contactOf(mirror, "other"))?.key).toBe(L.fingerprint);
    expect(mirror.alarmed()).toEqual(["key-new 1.0.0"]);
    expect(scene.audited()).toEqual([
      "new-key accepted 1.0.0",
      "new-key accepted 1.0.0",
    ]);
  });

  it("is not made where a list was first", async () => {
    const scene = await MirrorScene.prepare();
    scene.registry.offer("1.0.0", { content: "linux=a", by: K });
    const mirror = scene.start();
    await mirror.version("1.0.0");
    await importInto(mirror, { version: "9.0.0", by: E });
    expect(await contactOf(mirror)).toMatchObject({
      ...{ by: "list", versions: new Set(["1.0.0"]) },
    });
  });
});

describe("a list that is seen after a bundle", () => {
  const backDated = { signedAt: new Date("2021-01-01T00:00:00Z") };

  async function connect(...bundled: readonly Bundled[]) {
    const scene = await MirrorScene.prepare();
    const imported = scene.start({ offline: true });
    await importInto(imported, ...bundled);
    return { scene, mirror: scene.start() };
  }

  it("is no first contact: a back-dated release of another key is refused, and reported", async () => {
    const { scene, mirror } = await connect({ version: "1.0.0", by: K });
    scene.registry.offer("1.0.0", { content: "linux=a", by: K });
    scene.registry.offer("9.0.0", { content: "linux=e", by: E, ...backDated });
    expect(await mirror.index()).toBe("1.0.0");
    expect(await mirror.version("9.0.0")).toBe("key-refused: unknown");
    expect(mirror.alarmed()).toEqual(["key-refused 9.0.0"]);
  });

  it("counts for a version of the bundle that was not imported, with an alarm for a key that it did not carry", async () => {
    const { scene, mirror } = await connect({ version: "1.0.0", by: K });
    scene.registry.offer("1.0.0", { content: "linux=e", by: E, ...backDated });
    expect(await mirror.version("1.0.0")).toBe("linux=e");
    expect(mirror.alarmed()).toEqual(["key-new 1.0.0"]);
  });
});

it("a bundled signature is judged by the registry's keys, be they the same as before", async () => {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  const mirror = scene.start();
  const K = await createCertifiedSigner("K");
  const keys = [(await K.revoked()).armoredPublicKey];
  const offered = { content: "linux=a", by: K };
  registry.offer("1.0.0", offered);
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  registry.offer("1.0.0", { ...offered, keys });
  clock.pass(freshness);
  expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
  const more = `${"0".repeat(64)}  manifest.json\n`;
  const judged = await judge(mirror, { version: "1.0.0", by: K, more });
  const { address } = judged.request;
  await mirror.catalog.releases.change(address, (known) =>
    takeBundled(known, judged),
  );
  registry.offer("1.0.0", { ...offered, more, keys });
  clock.pass(freshness);
  expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
});
