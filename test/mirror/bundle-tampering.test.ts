import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runImport } from "../../src/commands/import.ts";
import { loadConfiguration } from "../../src/config.ts";
import { wireBundleLimits, wireMirror } from "../../src/wiring.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { createSigner, type Signer } from "../fakes/signing.ts";
import { scratch } from "../running-mirror.ts";
import {
  connectedSite,
  digestOf,
  offlineSite,
  putTogether,
  sealHeader,
  takeApart,
  tarEntry,
  type BundleParts,
  type ManifestDocument,
  type Site,
} from "./bundles.ts";

const linux = "linux_amd64";
const darwin = "darwin_arm64";

let registry: Registry;
let release: Release;
let stranger: Signer;
let good: Buffer;
let site: Site;
let core: Awaited<ReturnType<typeof wireMirror>>;
let scratchFolder: string;

/** What the tamperer starts from, deeply his own. */
function parts(): BundleParts & { members: { name: string; bytes: Buffer }[] } {
  const { manifest, members } = takeApart(Buffer.from(good));
  return { manifest, members: [...members] };
}

function firstRelease(manifest: ManifestDocument) {
  const [first] = manifest.releases;
  if (first === undefined) throw new Error("an empty bundle");
  return first;
}

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  release = await registry.publish({
    version: "1.2.3",
    platforms: [linux, darwin],
    size: 3000,
  });
  await registry.publish({ type: "gadget", version: "0.1.0" });
  stranger = await createSigner({ name: "Stranger" });
  scratchFolder = scratch("tampered");
  const from = connectedSite(authority, registry);
  const file = join(scratchFolder, "good.tar");
  const platforms = ["--platform", linux, "--platform", darwin];
  const widget = "acme/widget@1.2.3";
  await from.run("export", "--bundle", file, ...platforms, widget);
  good = readFileSync(file);
  const before = join(scratchFolder, "before.tar");
  await from.run("export", "--bundle", before, "acme/gadget@0.1.0");
  const fingerprints = [release.signer.fingerprint];
  const match = "registry.terraform.io/acme/*";
  const trust = { keys: [{ match, fingerprints }] };
  site = offlineSite({ config: { trust } });
  // Something is stored already, so that unchanged does not mean empty.
  expect((await site.run("import", before)).status).toBe(0);
  core = await wireMirror(loadConfiguration({ file: site.configFile }));
});

afterAll(async () => {
  await core.close();
  await registry.stop();
});

let files = 0;

async function importBytes(bytes: Buffer) {
  const file = join(scratchFolder, `${files++}.tar`);
  writeFileSync(file, bytes);
  let said = "";
  const limits = wireBundleLimits(loadConfiguration({ file: site.configFile }));
  const { signal } = new AbortController();
  const status = await runImport(core, { file, limits, signal }, (text) => {
    said += text;
  }).catch((error: unknown) => {
    said += (error as Error).message;
    return 1;
  });
  return { status, said };
}

/** Expects that nothing changes and that the reason is the one meant. */
async function expectRefused(bytes: Buffer, reason: RegExp): Promise<void> {
  const before = site.snapshot();
  expect(before.size).toBeGreaterThan(2);
  const { status, said } = await importBytes(bytes);
  expect(said).toMatch(reason);
  expect(status).toBe(1);
  expect(site.snapshot()).toEqual(before);
}

function withHeader(change: (header: Buffer) => void, member = 2): Buffer {
  const bytes = Buffer.from(good);
  let at = 0;
  for (let index = 0; index < member; index++) {
    const size = parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  const header = bytes.subarray(at, at + 512);
  change(header);
  sealHeader(header);
  return bytes;
}

function withManifest(change: (manifest: ManifestDocument) => void): Buffer {
  const { manifest, members } = parts();
  change(manifest);
  return putTogether({ manifest, members });
}

interface ProofDocument {
  document: string;
  signature: string | null;
  keys: string[];
}

/** The manifest fits to the proof again. */
function withProof(change: (proof: ProofDocument) => void): Buffer {
  const { manifest, members } = parts();
  const [proof, ...archives] = members;
  const document = JSON.parse(proof?.bytes.toString() ?? "") as ProofDocument;
  change(document);
  const bytes = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
  const sha256 = digestOf(bytes);
  firstRelease(manifest).proof = sha256;
  manifest.proofs = [{ sha256, size: bytes.length }];
  const member = { name: `proofs/${sha256}.json`, bytes };
  return putTogether({ manifest, members: [member, ...archives] });
}

describe("a bundle whose tar was tampered with", () => {
  it.each<[string, (header: Buffer) => void]>([
    ["a path that leads out", (h) => h.write("../../../etc/cron.d/x\0")],
    ["an absolute path", (h) => h.write("/etc/cron.d/x\0")],
    ["another name", (h) => h.write("archives/other.zip\0")],
    ["a hard link", (h) => h.write("1archives/x\0", 156)],
    ["a symbolic link", (h) => h.write("2/etc/passwd\0", 156)],
    ["a character device", (h) => h.write("3", 156)],
    ["a block device", (h) => h.write("4", 156)],
    ["a folder", (h) => h.write("5", 156)],
    ["a pipe", (h) => h.write("6", 156)],
    ["an extended header", (h) => h.write("x", 156)],
    ["a long name", (h) => h.write("L", 156)],
    ["another size", (h) => h.write("00000000001", 124)],
    ["a prefix of the path", (h) => h.write("../..", 345)],
  ])("with %s imports nothing", async (_, change) => {
    await expectRefused(
      withHeader(change),
      /is not a member that its manifest/,
    );
  });

  it("with an extra file at the end imports nothing", async () => {
    const { manifest, members } = parts();
    const extra = { name: "archives/extra.zip", bytes: Buffer.from("extra") };
    const bytes = putTogether({ manifest, members: [...members, extra] });
    await expectRefused(bytes, /expected \d+ bytes by its manifest/);
  });

  it("with an extra file that the manifest lists imports nothing", async () => {
    const { manifest, members } = parts();
    const bytes = Buffer.from("extra");
    const sha256 = digestOf(bytes);
    const extra = { name: `archives/${sha256}.zip`, bytes };
    manifest.archives.push({ sha256, size: bytes.length });
    manifest.archives.sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    members.push(extra);
    await expectRefused(
      putTogether({ manifest, members }),
      /none of its releases speaks of/,
    );
  });

  it("with bytes after its end imports nothing", async () => {
    await expectRefused(
      Buffer.concat([good, Buffer.from("tail")]),
      /expected \d+ bytes by its manifest/,
    );
  });

  it("with padding that is not zero imports nothing", async () => {
    const bytes = Buffer.from(good);
    bytes[bytes.length - 1025] = 1;
    await expectRefused(bytes, /is not padding/);
  });

  it("with something in its end imports nothing", async () => {
    const bytes = Buffer.from(good);
    bytes[bytes.length - 1] = 1;
    await expectRefused(bytes, /is not the end/);
  });

  it("that does not begin with its manifest imports nothing", async () => {
    const { manifest, members } = parts();
    const [first] = members;
    if (first === undefined) throw new Error("no members");
    await expectRefused(
      Buffer.concat([tarEntry(first), putTogether({ manifest, members })]),
      /does not begin with manifest.json/,
    );
  });

  it("that is empty, or no tar at all, imports nothing", async () => {
    await expectRefused(Buffer.alloc(0), /does not begin with/);
    await expectRefused(Buffer.from("PK\x03\x04"), /does not begin with/);
  });
});

describe("a bundle whose manifest lies", () => {
  const lies: [string, (manifest: ManifestDocument) => void, RegExp][] = [
    [
      "a provider with a path",
      (m) => (firstRelease(m).provider = "registry.terraform.io/../../etc"),
      /form that is known/,
    ],
    [
      "a version with a path",
      (m) => (firstRelease(m).version = "../1.2.3"),
      /form that is known/,
    ],
    [
      "a platform with a path",
      (m) => (firstRelease(m).platforms = ["../linux_amd64"]),
      /form that is known/,
    ],
    [
      "a digest with a path",
      (m) => (firstRelease(m).proof = "../".repeat(22)),
      /form that is known/,
    ],
    [
      "another provider",
      (m) => (firstRelease(m).provider = "registry.terraform.io/acme/other"),
      /does not name terraform-provider-other_1.2.3/,
    ],
    [
      "another version",
      (m) => (firstRelease(m).version = "9.9.9"),
      /does not name terraform-provider-widget_9.9.9/,
    ],
    [
      "a hostname that is not served",
      (m) => (firstRelease(m).provider = "registry.example.com/acme/widget"),
      /does not serve registry.example.com/,
    ],
    [
      "a platform that was not signed",
      (m) => {
        const { archives, platforms } = firstRelease(m);
        platforms.splice(1, 1, "plan9_arm");
        firstRelease(m).archives = {
          [darwin]: archives[darwin] ?? "",
          plan9_arm: archives[linux] ?? "",
        };
      },
      /does not name terraform-provider-widget_1.2.3_plan9_arm/,
    ],
    [
      "two platforms exchanged",
      (m) => {
        const { archives } = firstRelease(m);
        firstRelease(m).archives = {
          [darwin]: archives[linux] ?? "",
          [linux]: archives[darwin] ?? "",
        };
      },
      /is refused: expected SHA-256/,
    ],
    [
      "a size that is too small",
      (m) => m.archives.forEach((archive) => archive.size--),
      /is not a member|bytes by its manifest/,
    ],
    [
      "an archive over the limits",
      (m) => m.archives.forEach((archive) => (archive.size = 2 ** 40)),
      /over the limits/,
    ],
    [
      "a proof over the limits",
      (m) => m.proofs.forEach((proof) => (proof.size = 2 ** 30)),
      /over the limits/,
    ],
    [
      "another format",
      (m) => (m.format = "provender-bundle/2"),
      /form that is known/,
    ],
    [
      "a key that is not known",
      (m) => Object.assign(m, { trusted: true }),
      /form that is known/,
    ],
    [
      "a release twice",
      (m) => m.releases.push({ ...firstRelease(m) }),
      /canonical form/,
    ],
    [
      "a proof that is not there",
      (m) => (m.proofs = []),
      /bytes by its manifest/,
    ],
  ];
  it.each(lies)("about %s imports nothing", async (_, change, reason) => {
    await expectRefused(withManifest(change), reason);
  });

  it("in another order imports nothing", async () => {
    const { manifest, members } = parts();
    manifest.archives.reverse();
    const [proof, ...archives] = members;
    if (proof === undefined) throw new Error("no proof");
    await expectRefused(
      putTogether({ manifest, members: [proof, ...archives.toReversed()] }),
      /canonical form/,
    );
  });
});

describe("a bundle whose content was tampered with", () => {
  it("with two archives exchanged imports nothing", async () => {
    const { manifest, members } = parts();
    const [proof, one, two] = members;
    if (!proof || !one || !two) throw new Error("too few members");
    const swapped = [
      proof,
      { name: one.name, bytes: two.bytes },
      { name: two.name, bytes: one.bytes },
    ];
    expect(one.bytes.length).toBe(two.bytes.length);
    await expectRefused(
      putTogether({ manifest, members: swapped }),
      /expected SHA-256 .*, got/,
    );
  });

  it("with one other byte in an archive, under the right digest, imports nothing", async () => {
    const bytes = Buffer.from(good);
    const at = bytes.length - 2000;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await expectRefused(bytes, /expected SHA-256 .*, got/);
  });

  it("with another archive, and a manifest that says so, imports nothing", async () => {
    const { manifest, members } = parts();
    const bytes = Buffer.from("PK evil");
    const sha256 = digestOf(bytes);
    const { archives } = firstRelease(manifest);
    const replaced = archives[linux];
    archives[linux] = sha256;
    const contents = [
      ...manifest.archives.filter((one) => one.sha256 !== replaced),
      { sha256, size: bytes.length },
    ].toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    const kept = new Map(members.map((one) => [one.name, one]));
    const evil = { name: `archives/${sha256}.zip`, bytes };
    kept.set(evil.name, evil);
    const [proof] = members;
    const files = contents.map((one) => kept.get(`archives/${one.sha256}.zip`));
    await expectRefused(
      putTogether({
        manifest: { ...manifest, archives: contents },
        members: [proof, ...files].filter((one) => one !== undefined),
      }),
      /is refused: expected SHA-256 .*, the bundle says/,
    );
  });

  it("with other checksums under the old signature imports nothing", async () => {
    const bytes = withProof((proof) => {
      proof.document = proof.document.replace(/^./, "f");
    });
    await expectRefused(bytes, /signature .* is refused/);
  });

  it("with a proof that is none imports nothing", async () => {
    const bytes = withProof((proof) => Object.assign(proof, { keys: "all" }));
    await expectRefused(bytes, /proof of .* is refused/);
  });

  it("without a signature, or without keys, imports nothing", async () => {
    const unsigned = withProof((proof) => (proof.signature = null));
    await expectRefused(unsigned, /publishes no signature/);
    const keyless = withProof((proof) => (proof.keys = []));
    await expectRefused(keyless, /publishes no signing key/);
  });

  it("with the wrong key imports nothing", async () => {
    const bytes = withProof(
      (proof) => (proof.keys = [stranger.armoredPublicKey]),
    );
    await expectRefused(bytes, /signature .* is refused/);
  });

  it("with everything signed by a key that is not pinned imports nothing", async () => {
    const signature = await stranger.sign(Buffer.from(release.checksums));
    const bytes = withProof((proof) => {
      proof.signature = Buffer.from(signature).toString("base64");
      proof.keys = [stranger.armoredPublicKey];
    });
    await expectRefused(bytes, /held back because of its signing key/);
  });
});

describe("a bundle that is cut short", () => {
  it.each(Array.from({ length: 20 }, (_, index) => index))(
    "after %i twentieths imports nothing",
    async (twentieths) => {
      const end = Math.floor((good.length * twentieths) / 20);
      await expectRefused(
        good.subarray(0, end),
        /does not begin|cut short|bytes by its manifest/,
      );
    },
  );

  it("by one byte imports nothing", async () => {
    const bytes = good.subarray(0, good.length - 1);
    await expectRefused(bytes, /bytes by its manifest/);
  });
});

it("imports the bundle that nobody tampered with", async () => {
  const { status, said } = await importBytes(putTogether(parts()));
  expect(said).toContain("2 archives imported");
  expect(status).toBe(0);
});
