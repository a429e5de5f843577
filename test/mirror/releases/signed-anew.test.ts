import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  makeRelease,
  type Release,
  type ReleaseArchive,
} from "../../fakes/release.ts";
import { createSigner, type Signer } from "../../fakes/signing.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  digestsIn,
  outcomeOf,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import {
  signer,
  soon,
  TrustScene,
  unsignedHost,
} from "../../scenes/trust-scene.ts";

/** In seconds: keys of 2020 have expired by now. */
const fiveYears = 5 * 366 * 24 * 3600;

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});
afterAll(() => scene.stop());

/** The same release with these archives instead, signed by this one. */
async function sign(
  release: Release,
  by: Signer,
  archives: readonly ReleaseArchive[],
): Promise<Release> {
  const lines = archives.map((one) => `${one.sha256}  ${one.filename}\n`);
  const checksums = lines.join("");
  const signature = await by.sign(Buffer.from(checksums));
  const platforms = archives.map(({ platform }) => platform);
  return { ...release, signer: by, archives, platforms, checksums, signature };
}

/** A release whose key its registry revokes, and other content of the same name. */
async function prepare(namespace: string) {
  const owner = await createCertifiedSigner("Owner");
  const platforms = ["linux_amd64", "darwin_arm64"];
  const release = await scene.publish(namespace, "1.0.0", owner, { platforms });
  const other = await makeRelease({
    ...release.options,
    platforms: ["linux_amd64", "darwin_arm64", "windows_amd64"],
    seed: "other",
    signer: owner,
  });
  const heir = await createCertifiedSigner("Heir");
  const keys = { signingKeys: [await owner.revoked(), heir] };
  const ask = scene.ask(namespace);
  expect((await ask.version("1.0.0")).status).toBe(200);
  const linux = release.archive("linux_amd64");
  const offer = async (archives: readonly ReleaseArchive[]) => {
    scene.registry.offer(await sign(release, heir, archives), keys);
    return digestsIn(await ask.version("1.0.0"));
  };
  return { owner, heir, release, other, linux, offer, ask };
}

describe("a release that fell and was signed anew by a key that is not known", () => {
  it("is served with its first digests, and with no others that the new signer brings in a second step", async () => {
    const { release, other, linux, offer, ask } = await prepare("two-steps");
    expect(await offer([linux])).toEqual({ linux_amd64: linux.sha256 });
    const darwin = other.archive("darwin_arm64");
    expect(await offer([linux, darwin])).toEqual({ linux_amd64: linux.sha256 });
    const got = await ask.archive("1.0.0", { platform: "darwin_arm64" });
    expect(outcomeOf(got)).toBe("404 not-found");
    expect(await offer(release.archives)).toEqual({
      linux_amd64: linux.sha256,
      darwin_arm64: release.archive("darwin_arm64").sha256,
    });
  });

  it("has no others either once that key fell, too, and the next one signed it anew", async () => {
    const { release, other, linux, heir, offer } = await prepare("twice");
    expect(await offer([linux])).toEqual({ linux_amd64: linux.sha256 });
    const next = await signer("Next");
    const keys = { signingKeys: [await heir.revoked(), next] };
    for (const more of [[], [other.archive("windows_amd64")]]) {
      const offered = await sign(release, next, [linux, ...more]);
      scene.registry.offer(offered, keys);
      const answer = await scene.ask("twice").version("1.0.0");
      expect(digestsIn(answer)).toEqual({ linux_amd64: linux.sha256 });
    }
  });

  it("has no platforms beside those that were seen first", async () => {
    const { other, linux, offer } = await prepare("beside");
    expect(await offer([linux])).toEqual({ linux_amd64: linux.sha256 });
    const windows = other.archive("windows_amd64");
    expect(await offer([linux, windows])).toEqual({
      linux_amd64: linux.sha256,
    });
  });
});

describe("a release that fell and is signed anew after a key that an operator revoked", () => {
  it("is held back, though it was in the first list", async () => {
    const { owner, linux, offer, ask } = await prepare("by-operator");
    const key = ["--key", owner.fingerprint];
    await scene.trust("revoke", ...key, "registry.terraform.io/by-operator");
    const outcome = async () => outcomeOf(await ask.version("1.0.0"));
    await expect.poll(outcome).toBe("451 key-refused");
    expect(await offer([linux])).toBe("key-refused");
  });
});

describe("other content that an operator approved", () => {
  it("comes under the key that it was approved under, and under no other", async () => {
    const { owner, release, other, ask } = await prepare("approved");
    const [linux, darwin] = ["linux_amd64", "darwin_arm64"].map((platform) =>
      other.archive(platform),
    );
    if (linux === undefined || darwin === undefined) throw new Error("none");
    const first = digestsIn(await ask.version("1.0.0"));
    const stranger = await signer("Stranger");
    const digestsOf = async (by: Signer) => {
      scene.registry.offer(await sign(release, by, [linux, darwin]));
      return digestsIn(await ask.version("1.0.0"));
    };
    expect(await digestsOf(owner)).toEqual(first);
    await scene.trust("approve", "registry.terraform.io/approved/thing@1.0.0");
    await setTimeout(soon);
    expect(await digestsOf(stranger)).toEqual(first);
    expect(await digestsOf(owner)).toEqual({
      linux_amd64: linux.sha256,
      darwin_arm64: darwin.sha256,
    });
  });
});

describe("a release whose record is refused on terms that were changed since", () => {
  it("may be signed anew, with no archives beside those that were seen first", async () => {
    const owner = await createSigner({ expiresAfter: fiveYears });
    const release = await scene.publish("terms", "1.0.0", owner);
    const ask = () => scene.ask("terms").version("1.0.0");
    expect((await ask()).status).toBe(200);
    const origins = Object.entries(scene.config.origins as object).map(
      ([name, origin]) => [
        name,
        { ...(origin as object), verification: "enforce" },
      ],
    );
    await scene.revive({ origins: Object.fromEntries(origins) as object });
    const [linux] = release.archives;
    if (linux === undefined) throw new Error("none");
    const windows = (
      await makeRelease({
        ...release.options,
        platforms: ["windows_amd64"],
        seed: "other",
      })
    ).archive("windows_amd64");
    const heir = await signer("Heir");
    const offer = async (archives: readonly ReleaseArchive[]) => {
      scene.registry.offer(await sign(release, heir, archives));
      return digestsIn(await ask());
    };
    expect(await offer([linux, windows])).toBe("signature-refused");
    expect(await offer([linux])).toEqual({ linux_amd64: linux.sha256 });
    expect(await offer([linux, windows])).toEqual({
      linux_amd64: linux.sha256,
    });
  });
});

describe("a release that fell with its revoked key", () => {
  it("stays down when its registry publishes no key any more, also where that excuses unsigned ones", async () => {
    const owner = await createCertifiedSigner("Owner");
    const release = await scene.publish("no-keys", "1.0.0", owner);
    const ask = requestsFor(scene.mirror, "thing", "no-keys", unsignedHost);
    const outcome = async () => outcomeOf(await ask.archive("1.0.0"));
    expect(await outcome()).toBe("200");
    scene.registry.offer(release, { signingKeys: [await owner.revoked()] });
    expect(await outcome()).toBe("451 signature-refused");
    scene.registry.offer(release, { signingKeys: [] });
    expect(await outcome()).toBe("451 signature-refused");
    scene.registry.offer(release, { signingKeys: [owner] });
    expect(await outcome()).toBe("200");
  });
});
