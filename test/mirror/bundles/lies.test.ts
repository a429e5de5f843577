import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import { startOrigin } from "../../scenes/world.ts";
import { readRecord } from "../../store/stores.ts";
import {
  connectedSite,
  digestOf,
  exportBundle,
  putTogether,
  sealHeader,
  takeApart,
  takingSite,
  tarEntry,
  type ManifestDocument,
} from "./bundles.ts";

const linux = "linux_amd64";
const darwin = "darwin_arm64";
const platforms = [linux, darwin];

/** A good bundle, and a site that pins its key and has something stored already, so that unchanged does not mean empty. */
const { authority, registry } = await startOrigin();
const stranger = await createSigner({ name: "Stranger" });
const release = await registry.publish({
  ...{ version: "1.2.3", platforms, size: 3000 },
});
await registry.publish({ type: "gadget", version: "0.1.0" });
const from = connectedSite(authority, registry);
const flags = platforms.flatMap((platform) => ["--platform", platform]);
const good = readFileSync(
  await exportBundle(from, ...flags, "acme/widget@1.2.3"),
);
const fingerprints = [release.signer.fingerprint];
const match = "registry.terraform.io/acme/*";
const { site, take } = await takingSite({
  config: { trust: { keys: [{ match, fingerprints }] } },
});
const stored = await exportBundle(from, "acme/gadget@0.1.0");
expect(await take(readFileSync(stored))).toMatchObject({ status: 0 });
expect(site.snapshot().size).toBeGreaterThan(2);

/** Expects that nothing changes, and that the reason is the one meant. */
async function expectRefused(bytes: Buffer, reason: RegExp): Promise<void> {
  const { said, ...ended } = await take(bytes);
  expect(said).toMatch(reason);
  expect(ended).toEqual({ status: 1, changed: [] });
}

function parts() {
  const { manifest, members } = takeApart(Buffer.from(good));
  const [proof, one, two] = members;
  const [first] = manifest.releases;
  if (!proof || !one || !two || !first) throw new Error("too few members");
  return { manifest, members: [proof, one, two] as const, first };
}

type First = ManifestDocument["releases"][number];

function withManifest(
  change: (first: First, manifest: ManifestDocument) => unknown,
): Buffer {
  const { manifest, members, first } = parts();
  change(first, manifest);
  return putTogether({ manifest, members });
}

interface ProofDocument {
  document: string;
  signature: string | null;
  keys: string[];
}

/** The proof was changed, and the manifest fits to it again. */
function withProof(change: (proof: ProofDocument) => unknown): Buffer {
  const { manifest, members, first } = parts();
  const [proof, ...archives] = members;
  const document = JSON.parse(String(proof.bytes)) as ProofDocument;
  change(document);
  const bytes = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
  const sha256 = digestOf(bytes);
  first.proof = sha256;
  manifest.proofs = [{ sha256, size: bytes.length }];
  const member = { name: `proofs/${sha256}.json`, bytes };
  return putTogether({ manifest, members: [member, ...archives] });
}

/** The header of the first archive was changed, and sealed again. */
function withHeader(text: string, at: number): Buffer {
  const bytes = Buffer.from(good);
  const { name } = parts().members[1];
  const start = bytes.lastIndexOf(name);
  const header = bytes.subarray(start, start + 512);
  header.write(text, at);
  sealHeader(header);
  return bytes;
}

/** Another archive for linux, of which the manifest says so. */
function withArchive(): Buffer {
  const { manifest, members, first } = parts();
  const bytes = Buffer.from("PK evil");
  const sha256 = digestOf(bytes);
  const at = manifest.archives.findIndex(
    (one) => one.sha256 === first.archives[linux],
  );
  first.archives[linux] = sha256;
  manifest.archives[at] = { sha256, size: bytes.length };
  const evil = { name: `archives/${sha256}.zip`, bytes };
  return putTogether({ manifest, members: members.with(at + 1, evil) });
}

/** A file more, which the manifest lists where `isListed`. */
function withExtra(isListed: boolean): Buffer {
  const { manifest, members } = parts();
  const bytes = Buffer.from("extra");
  const sha256 = digestOf(bytes);
  if (isListed) manifest.archives.push({ sha256, size: bytes.length });
  const extra = { name: `archives/${sha256}.zip`, bytes };
  return putTogether({ manifest, members: [...members, extra] });
}

const form = /form that is known/;
const size = /expected \d+ bytes by its manifest/;
const limits = /over the limits/;
const unsigned = (name: string) =>
  new RegExp(`does not name terraform-provider-${name}`);
const host = "registry.terraform.io";

describe("a bundle whose manifest lies about", () => {
  it.each<
    [string, (first: First, manifest: ManifestDocument) => unknown, RegExp]
  >([
    ["a path in a provider", (f) => (f.provider = `${host}/../../etc`), form],
    ["a path in a version", (f) => (f.version = "../1.2.3"), form],
    ["a path in a platform", (f) => (f.platforms = ["../linux_amd64"]), form],
    ["a path in a digest", (f) => (f.proof = "../".repeat(22)), form],
    [
      "another provider",
      (f) => (f.provider = `${host}/acme/other`),
      unsigned("other_1.2.3"),
    ],
    ["another version", (f) => (f.version = "9.9.9"), unsigned("widget_9.9.9")],
    [
      "a hostname that is not served",
      (f) => (f.provider = "registry.example.com/acme/widget"),
      /does not serve registry.example.com/,
    ],
    [
      "a platform that was not signed",
      ({ archives }) => (archives.plan9_arm = archives[linux] ?? ""),
      unsigned("widget_1.2.3_plan9_arm"),
    ],
    [
      "two platforms exchanged",
      (first) => {
        const { [linux]: one = "", [darwin]: two = "" } = first.archives;
        first.archives = { [darwin]: one, [linux]: two };
      },
      /is refused \(expected SHA-256/,
    ],
    [
      "a size that is too small",
      (_, m) => m.archives.forEach((archive) => archive.size--),
      /is not a member|bytes by its manifest/,
    ],
    [
      "an archive over the limits",
      (_, m) => m.archives.forEach((archive) => (archive.size = 2 ** 40)),
      limits,
    ],
    [
      "a proof over the limits",
      (_, m) => m.proofs.forEach((proof) => (proof.size = 2 ** 30)),
      limits,
    ],
    ["its format", (_, m) => (m.format = "provender-bundle/2"), form],
    ["more than is known", (_, m) => Object.assign(m, { more: true }), form],
    [
      "a release twice",
      (first, m) => m.releases.push({ ...first }),
      /lists something twice/,
    ],
    ["a proof that is not there", (_, m) => (m.proofs = []), size],
  ])("%s imports nothing", (_, change, reason) =>
    expectRefused(withManifest(change), reason),
  );
});

describe("a bundle that was tampered with imports nothing", () => {
  const other = /expected SHA-256 .*, got/;
  const begin = /does not begin with/;
  const signature = /signature .* is refused/;
  const keys = [stranger.armoredPublicKey];

  it.each<[string, () => Buffer, RegExp]>([
    [
      "two archives exchanged",
      () => {
        const { manifest, members } = parts();
        const [proof, one, two] = members;
        expect(one.bytes.length).toBe(two.bytes.length);
        const swapped = [
          { ...one, bytes: two.bytes },
          { ...two, bytes: one.bytes },
        ];
        return putTogether({ manifest, members: [proof, ...swapped] });
      },
      other,
    ],
    [
      "one other byte in an archive, under the right digest",
      () => {
        const bytes = Buffer.from(good);
        bytes.writeUInt8((bytes.at(-2000) ?? 0) ^ 1, bytes.length - 2000);
        return bytes;
      },
      other,
    ],
    [
      "another archive, and a manifest that says so",
      withArchive,
      /is refused \(expected SHA-256 .*, the bundle says/,
    ],
    [
      "other checksums under the old signature",
      () => withProof((p) => (p.document = p.document.replace(/^./, "f"))),
      signature,
    ],
    [
      "a malformed proof",
      () => withProof((proof) => Object.assign(proof, { keys: "all" })),
      /proof of .* is refused/,
    ],
    [
      "no signature",
      () => withProof((proof) => (proof.signature = null)),
      /publishes no signature/,
    ],
    [
      "no keys",
      () => withProof((proof) => (proof.keys = [])),
      /publishes no signing key/,
    ],
    ["the wrong key", () => withProof((p) => (p.keys = keys)), signature],
    ["an extra file at the end", () => withExtra(false), size],
    [
      "an extra file that the manifest lists",
      () => withExtra(true),
      /none of its releases speaks of/,
    ],
    [
      "bytes after its end",
      () => Buffer.concat([good, Buffer.from("tail")]),
      size,
    ],
    [
      "a member before its manifest",
      () => Buffer.concat([tarEntry(parts().members[0]), good]),
      begin,
    ],
    ["nothing in it", () => Buffer.alloc(0), begin],
    ["no tar at all", () => Buffer.from("PK\x03\x04"), begin],
    ["a byte missing", () => good.subarray(0, good.length - 1), size],
  ])("with %s", (_, make, reason) => expectRefused(make(), reason));

  it.each([
    ["a path that leads out", "../../../etc/cron.d/x\0", 0],
    ["an absolute path", "/etc/cron.d/x\0", 0],
    ["another name", "archives/other.zip\0", 0],
    ["a hard link", "1archives/x\0", 156],
    ["a symbolic link", "2/etc/passwd\0", 156],
    ["a character device", "3", 156],
    ["a block device", "4", 156],
    ["a folder", "5", 156],
    ["a pipe", "6", 156],
    ["an extended header", "x", 156],
    ["a long name", "L", 156],
    ["another size", "00000000001", 124],
    ["a prefix of the path", "../..", 345],
  ])("with %s in its tar", (_, text, at) =>
    expectRefused(withHeader(text, at), /is not a member that its manifest/),
  );

  it.each(Array.from({ length: 20 }, (_, index) => index))(
    "when it is cut short after %i twentieths",
    (twentieths) =>
      expectRefused(
        good.subarray(0, Math.floor((good.length * twentieths) / 20)),
        /does not begin|cut short|bytes by its manifest/,
      ),
  );
});

it("a bundle that a key signed which is not pinned imports nothing, and is a candidate for the operator", async () => {
  const checksums = Buffer.from(release.checksums);
  const signature = Buffer.from(await stranger.sign(checksums));
  const bytes = withProof((proof) => {
    proof.signature = signature.toString("base64");
    proof.keys = [stranger.armoredPublicKey];
  });
  const { said, status, changed } = await take(bytes);
  expect(said).toMatch(/held back because its signing key/);
  expect(status).toBe(1);
  const widget = ["registry.terraform.io", "acme", "widget"] as const;
  const keys = [
    ["candidates", ...widget],
    ["first_contacts", ...widget],
    ["releases", ...widget, "1.2.3"],
  ] as const;
  expect(changed.toSorted()).toEqual(
    keys.map((key) => `records/${key.join("/")}`),
  );
  const { fingerprint } = stranger;
  const sha256sums = digestOf(checksums);
  const candidate = { version: "1.2.3", fingerprint, reason: "not-pinned" };
  expect(keys.map((key) => readRecord(site.directory, key))).toMatchObject([
    { list: [{ ...candidate, sha256sums }], dropped: 0 },
    { by: "bundle", versions: ["1.2.3"], key: fingerprint },
    {
      pinned: null,
      evidence: [{ signedBy: fingerprint, noted: "not-pinned" }],
    },
  ]);
});

it("the bundle without tampering is imported", async () => {
  const bytes = putTogether(parts());
  const { status, said } = await take(bytes);
  expect(said).toContain("2 archives imported");
  expect(status).toBe(0);
});
