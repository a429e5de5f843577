import { afterAll, describe, expect, it } from "vitest";
import type { Release } from "../../fakes/release.ts";
import { createSigner, type Signer } from "../../fakes/signing.ts";
import { requestsFor } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

const linux = "linux_amd64";
const darwin = "darwin_arm64";

/** Genuine releases: one publisher's of two versions and two providers, and another publisher's. */
const genuine = {
  own: { namespace: "real", type: "alpha", version: "1.0.0" },
  newer: { namespace: "real", type: "alpha", version: "1.1.0" },
  beta: { namespace: "real", type: "beta", version: "1.0.0" },
  other: { namespace: "foreign", type: "alpha", version: "1.0.0" },
} as const;
type Name = keyof typeof genuine;

/** Lie about alpha 1.0.0 for linux_amd64; each part is genuine for another release. */
interface Lie {
  readonly sums?: Name;
  readonly signature?: Name;
  readonly shasum?: readonly [Name, string];
  readonly filename?: readonly [Name, string];
  /** The platform that is echoed. */
  readonly platform?: string;
  readonly archive?: readonly [Name, string];
  readonly keys?: readonly Name[];
}

const lies: readonly (readonly [string, Lie])[] = [
  [
    "all checksums of another version",
    {
      sums: "newer",
      signature: "newer",
      shasum: ["newer", linux],
      archive: ["newer", linux],
    },
  ],
  [
    "all of another version with its name",
    {
      sums: "newer",
      signature: "newer",
      shasum: ["newer", linux],
      archive: ["newer", linux],
      filename: ["newer", linux],
    },
  ],
  [
    "checksums of another version with the right digest",
    { sums: "newer", signature: "newer" },
  ],
  [
    "all checksums of another provider",
    {
      sums: "beta",
      signature: "beta",
      shasum: ["beta", linux],
      archive: ["beta", linux],
    },
  ],
  [
    "all of another provider with its name",
    {
      sums: "beta",
      signature: "beta",
      shasum: ["beta", linux],
      archive: ["beta", linux],
      filename: ["beta", linux],
    },
  ],
  [
    "checksums of another provider with the right digest",
    { sums: "beta", signature: "beta" },
  ],
  ["the signature of another version", { signature: "newer" }],
  ["the signature of another provider", { signature: "beta" }],
  ["the signature of another publisher", { signature: "other" }],
  ["checksums of another version under the right signature", { sums: "newer" }],
  [
    "checksums of another publisher under the right signature",
    { sums: "other", shasum: ["other", linux] },
  ],
  [
    "all of another publisher under the right key",
    {
      sums: "other",
      signature: "other",
      shasum: ["other", linux],
      archive: ["other", linux],
    },
  ],
  ["another publisher's key", { keys: ["other"] }],
  ["no key", { keys: [] }],
  ["another platform's digest", { shasum: ["own", darwin] }],
  ["another version's digest", { shasum: ["newer", linux] }],
  ["another provider's digest", { shasum: ["beta", linux] }],
  [
    "another platform with its name",
    {
      platform: darwin,
      filename: ["own", darwin],
      shasum: ["own", darwin],
      archive: ["own", darwin],
    },
  ],
  [
    "another platform's name",
    {
      filename: ["own", darwin],
      shasum: ["own", darwin],
      archive: ["own", darwin],
    },
  ],
  [
    "another platform under the right name",
    { shasum: ["own", darwin], archive: ["own", darwin] },
  ],
];

/** All documents are genuine, the bytes are not theirs. */
const switched: readonly (readonly [string, Lie])[] = [
  ["another version's archive", { archive: ["newer", linux] }],
  ["another provider's archive", { archive: ["beta", linux] }],
  ["another platform's archive", { archive: ["own", darwin] }],
  ["another publisher's archive", { archive: ["other", linux] }],
];

const releases = new Map<Name, Release>();
let accepted = 0;

const { registry, mirror } = await startWorld();
const signers = { real: await createSigner(), foreign: await createSigner() };
for (const [name, options] of Object.entries(genuine))
  releases.set(
    name as Name,
    await registry.publish({
      ...options,
      signer: signers[options.namespace],
      seed: options.namespace,
      platforms: [linux, darwin],
      size: 150_000,
    }),
  );

afterAll(() => {
  console.info(`${accepted} of ${lies.length + switched.length} accepted`);
});

function release(name: Name): Release {
  const found = releases.get(name);
  if (found === undefined) throw new Error(`no release ${name}`);
  return found;
}

function filesOf(name: Name): string {
  const { namespace, type, version } = genuine[name];
  return `${registry.url}archives/${namespace}/${type}/${version}/`;
}

function sumsOf(name: Name): string {
  const { type, version } = genuine[name];
  return `${filesOf(name)}terraform-provider-${type}_${version}_SHA256SUMS`;
}

function keyOf(name: Name): Signer {
  return release(name).signer;
}

/** Alpha 1.0.0 in a namespace of its own, of which the registry tells this. */
function tell(namespace: string, lie: Lie): void {
  const { sums = "own", signature = "own", keys = ["own"] } = lie;
  const [shasum, filename, archive] = (
    ["shasum", "filename", "archive"] as const
  ).map((part) => {
    const [name, platform] = lie[part] ?? ["own", linux];
    return { name, archive: release(name).archive(platform) };
  });
  const [os, arch] = (lie.platform ?? linux).split("_");
  const base = `/v1/providers/${namespace}/alpha`;
  const platforms = [{ os: "linux", arch: "amd64" }];
  const versions = [{ version: "1.0.0", platforms }];
  registry.serve(`${base}/versions`, JSON.stringify({ versions }));
  const document = {
    os,
    arch,
    filename: filename?.archive.filename,
    download_url: `${filesOf(archive?.name ?? "own")}${archive?.archive.filename}`,
    shasums_url: sumsOf(sums),
    shasums_signature_url: `${sumsOf(signature)}.sig`,
    shasum: shasum?.archive.sha256,
    signing_keys: {
      gpg_public_keys: keys.map((name) => ({
        ascii_armor: keyOf(name).armoredPublicKey,
      })),
    },
  };
  registry.serve(
    `${base}/1.0.0/download/linux/amd64`,
    JSON.stringify(document),
  );
}

async function ask(namespace: string) {
  const requests = requestsFor(mirror, "alpha", namespace);
  const document = await requests.version("1.0.0");
  const archive = await requests.archive("1.0.0");
  const whole = archive.status === 200 && archive.complete;
  return { document, archive, whole };
}

describe("parts that do not belong together", () => {
  it.each(lies)("%s: refused", async (name, lie) => {
    const namespace = `lie-${lies.findIndex(([one]) => one === name)}`;
    tell(namespace, lie);
    const { document, archive, whole } = await ask(namespace);
    if (document.status === 200 || whole) accepted++;
    expect([451, 502]).toContain(document.status);
    expect([451, 502]).toContain(archive.status);
  });

  it.each(switched)("%s: never whole", async (name, lie) => {
    const namespace = `switch-${switched.findIndex(([one]) => one === name)}`;
    tell(namespace, lie);
    const { document, whole } = await ask(namespace);
    if (whole) accepted++;
    expect(document.status).toBe(200);
    expect(whole).toBe(false);
  });
});

describe("parts that belong together", () => {
  it("are accepted as built above, so that a lie is the only difference", async () => {
    tell("truth", {});
    const { document, archive, whole } = await ask("truth");
    expect(document.status).toBe(200);
    expect(whole).toBe(true);
    expect(archive.body.equals(release("own").archive(linux).bytes)).toBe(true);
  });
});
