import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { digestOf } from "../../fakes/archive.ts";
import { sealHeader, tarEntry } from "../../fakes/module-archive.ts";
import { createSigner } from "../../fakes/signing.ts";
import { startOrigin } from "../../scenes/world.ts";
import { readRecord } from "../../store/stores.ts";
import {
  connectedSite,
  exportBundle,
  putTogether,
  takeApart,
  takingSite,
} from "./bundles.ts";

const [linux, darwin] = ["linux_amd64", "darwin_arm64"] as const;
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
const { site, take } = takingSite({
  trust: { keys: [{ match, fingerprints }] },
});
const stored = await exportBundle(from, "acme/gadget@0.1.0");
expect(await take(readFileSync(stored))).toMatchObject({ status: 0 });
expect(site.snapshot().size).toBeGreaterThan(2);

/** The good bundle taken apart: its release, and an archive as the manifest lists it. */
function parts() {
  const { manifest, members } = takeApart(Buffer.from(good));
  const [first] = manifest.releases;
  const [one] = manifest.contents;
  if (!first || !one) throw new Error("too little is in it");
  return { manifest, members, first, proof: first.proof, one };
}

type Change = (made: ReturnType<typeof parts>) => unknown;

function changed(change: Change): Buffer {
  const made = parts();
  change(made);
  return putTogether(made);
}

/** The header of the first archive was changed, and sealed again. */
function withHeader(text: string, at: number): Buffer {
  const bytes = Buffer.from(good);
  const start = bytes.lastIndexOf(parts().members[0]?.[0] ?? "");
  const header = bytes.subarray(start, start + 512);
  header.write(text, at);
  sealHeader(header);
  return bytes;
}

const bytes = Buffer.from("PK evil");
const [sha256, length] = [digestOf(bytes), bytes.length];
const evil = [`contents/${sha256}`, bytes] as const;
const host = "registry.terraform.io";
const altered = Buffer.from(good);
altered.writeUInt8((good.at(-2000) ?? 0) ^ 1, good.length - 2000);
const oversized = Buffer.from(good);
oversized.write("00777777777", 124);
sealHeader(oversized.subarray(0, 512));

const form = /form that is known/;
const size = /expected \d+ bytes by its manifest/;
const begin = /does not begin with/;
const signature = /signature .* is refused/;
const member = /is not a member that its manifest/;

it.each<[string, Change | Buffer, RegExp]>([
  ["a path", ({ first }) => (first.provider = `${host}/../../etc`), form],
  [
    "the name of another provider",
    ({ first }) => (first.provider = `${host}/acme/other`),
    /does not name terraform-provider-other_1\.2\.3/,
  ],
  [
    "a hostname that is not served",
    ({ first }) => (first.provider = "a.example.com/acme/widget"),
    /does not serve a\.example\.com/,
  ],
  [
    "a platform that was not signed",
    ({ first }) => (first.archives.plan9_arm = sha256),
    /does not name terraform-provider-widget_1\.2\.3_plan9_arm/,
  ],
  [
    "two platforms exchanged",
    ({ first: { archives: all } }) =>
      ([all[darwin], all[linux]] = [all[linux] ?? "", all[darwin] ?? ""]),
    /is refused \(expected SHA-256/,
  ],
  [
    "a document that is larger than is read",
    ({ proof }) => (proof.document += "x".repeat(2 ** 20)),
    form,
  ],
  ["a size too small", ({ one }) => one.size--, member],
  [
    "an archive over the limits",
    ({ one }) => (one.size = 2 ** 40),
    /over the limits/,
  ],
  [
    "more than is known",
    ({ manifest }) => Object.assign(manifest, { more: 1 }),
    form,
  ],
  [
    "a release twice",
    ({ manifest, first }) => manifest.releases.push({ ...first }),
    /lists something twice/,
  ],
  [
    "one other byte in an archive, under the right digest",
    altered,
    /expected SHA-256 .*, got/,
  ],
  [
    "another archive, and a manifest that says so",
    ({ members, first, one }) => {
      const [platform] = platforms.filter(
        (name) => first.archives[name] === one.sha256,
      );
      first.archives[platform ?? ""] = sha256;
      Object.assign(one, { sha256, size: length });
      members[0] = evil;
    },
    /is refused \(expected SHA-256 .*, the bundle says/,
  ],
  [
    "other checksums under the old signature",
    ({ proof }) => (proof.document = proof.document.replace(/^./, "f")),
    signature,
  ],
  ["a malformed proof", ({ proof }) => Object.assign(proof, { keys: 1 }), form],
  [
    "no signature",
    ({ proof }) => (proof.signature = null),
    /publishes no signature/,
  ],
  [
    "the wrong key",
    ({ proof }) => (proof.keys = [stranger.armoredPublicKey]),
    signature,
  ],
  [
    "an extra file that the manifest lists",
    ({ manifest, members }) => {
      members.push(evil);
      manifest.contents.push({ sha256, size: length });
    },
    /none of its releases speaks of/,
  ],
  ["a manifest over the limits", oversized, /has more than \d+ bytes/],
  ["bytes after its end", Buffer.concat([good, bytes]), size],
  [
    "a member before its manifest",
    Buffer.concat([tarEntry({ name: evil[0], content: bytes }), good]),
    begin,
  ],
  ["nothing in it", Buffer.alloc(0), begin],
  ["a byte missing", good.subarray(0, good.length - 1), size],
  ["its manifest cut short", good.subarray(0, 600), /is cut short/],
  ["a name that leads out", withHeader("../../etc/cron.d/x\0", 0), member],
  ["a hard link", withHeader("1contents/x\0", 156), member],
  ["an extended header", withHeader("x", 156), member],
  ["another size", withHeader("00000000001", 124), member],
  ["a prefix of the path", withHeader("../..", 345), member],
])(
  "a bundle with %s imports nothing, and says why",
  async (_, made, reason) => {
    const tampered = Buffer.isBuffer(made) ? made : changed(made);
    const { said, ...ended } = await take(tampered);
    expect(said).toMatch(reason);
    expect(ended).toEqual({ status: 1, changed: [] });
  },
);

it("a bundle that a key signed which is not pinned imports nothing, and is a candidate for the operator", async () => {
  const checksums = Buffer.from(release.checksums);
  const signed = Buffer.from(await stranger.sign(checksums));
  const tampered = changed(({ proof }) => {
    proof.signature = signed.toString("base64");
    proof.keys = [stranger.armoredPublicKey];
  });
  const { said, status, changed: written } = await take(tampered);
  expect(said).toMatch(/held back because its signing key/);
  expect(status).toBe(1);
  const widget = ["registry.terraform.io", "acme", "widget"] as const;
  const keys = [
    ["candidates", ...widget],
    ["first_contacts", ...widget],
    ["releases", ...widget, "1.2.3"],
  ] as const;
  expect(written.toSorted()).toEqual(
    keys.map((key) => `records/${key.join("/")}`),
  );
  const { fingerprint } = stranger;
  const sha256sums = digestOf(checksums);
  const candidate = { version: "1.2.3", fingerprint, reason: "not-pinned" };
  expect(keys.map((key) => readRecord(site.directory, key))).toMatchObject([
    { list: [{ ...candidate, sha256sums }] },
    { by: "bundle", versions: ["1.2.3"], key: fingerprint },
    {
      pinned: null,
      evidence: [{ signedBy: fingerprint, noted: "not-pinned" }],
    },
  ]);
});

it("the bundle without tampering is imported", async () => {
  const { status, said } = await take(putTogether(takeApart(good)));
  expect(said).toContain("2 archives imported");
  expect(status).toBe(0);
});
