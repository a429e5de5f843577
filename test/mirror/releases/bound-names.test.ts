import { expect, it } from "vitest";
import type { Release } from "../../fakes/release.ts";
import { createSigner } from "../../fakes/signing.ts";
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

/** Lies as `PART=RELEASE[/PLATFORM]`; what is not named is of `own`. */
const lies: Readonly<Record<string, string>> = {
  "all checksums of another version": "all=newer",
  "all of another version with its name": "all=newer filename=newer",
  "checksums of another version with the right digest": "files=newer",
  "checksums of another provider with the right digest": "files=beta",
  "the signature of another version": "signature=newer",
  "checksums of another publisher under the right signature":
    "sums=other shasum=other",
  "all of another publisher under the right key": "all=other",
  "another publisher's key": "keys=other",
  "no key": "keys=none",
  "another platform's digest": "shasum=own/darwin",
  "another platform with its name":
    "platform=darwin filename=own/darwin shasum=own/darwin archive=own/darwin",
  "another platform under the right name":
    "shasum=own/darwin archive=own/darwin",
};

/** All documents are genuine, the bytes are not theirs. */
const switched = ["newer", "beta", "own/darwin", "other"];

const groups: Readonly<Record<string, readonly string[]>> = {
  all: ["sums", "signature", "shasum", "archive"],
  files: ["sums", "signature"],
};

const releases = new Map<string, Release>();
const { registry, mirror } = await startWorld();
const signers = { real: await createSigner(), foreign: await createSigner() };
for (const [name, options] of Object.entries(genuine)) {
  const { namespace: seed } = options;
  const made = { seed, platforms: [linux, darwin], size: 150_000 };
  const signer = signers[seed];
  releases.set(name, await registry.publish({ ...options, ...made, signer }));
}

let told = 0;

/** Has the registry tell this in a namespace of its own, and asks for it. */
async function tell(lie: string) {
  const said = new Map<string, string>();
  for (const [, part = "", value = ""] of lie.matchAll(/(\w+)=(\S+)/g))
    for (const name of groups[part] ?? [part]) said.set(name, value);
  const of = (part: string) => {
    const [name = "", isDarwin] = (said.get(part) ?? "own").split("/");
    const release = releases.get(name);
    if (release === undefined) throw new Error(`no release ${name}`);
    const { namespace, type, version } = genuine[name as keyof typeof genuine];
    const base = `${registry.url}archives/${namespace}/${type}/${version}/`;
    const sums = `${base}terraform-provider-${type}_${version}_SHA256SUMS`;
    const { filename, sha256 } = release.archive(isDarwin ? darwin : linux);
    return { signer: release.signer, sums, filename, sha256, base };
  };
  const [os, arch] = (said.has("platform") ? darwin : linux).split("_");
  const keys = said.get("keys") === "none" ? [] : [of("keys").signer];
  const namespace = `told-${told++}`;
  const base = `/v1/providers/${namespace}/alpha`;
  const platforms = [{ os: "linux", arch: "amd64" }];
  const versions = [{ version: "1.0.0", platforms }];
  registry.serve(`${base}/versions`, JSON.stringify({ versions }));
  registry.serve(
    `${base}/1.0.0/download/linux/amd64`,
    JSON.stringify({
      ...{ os, arch, filename: of("filename").filename },
      download_url: of("archive").base + of("archive").filename,
      shasums_url: of("sums").sums,
      shasums_signature_url: `${of("signature").sums}.sig`,
      shasum: of("shasum").sha256,
      signing_keys: {
        gpg_public_keys: keys.map(({ armoredPublicKey: ascii_armor }) => ({
          ascii_armor,
        })),
      },
    }),
  );
  const requests = requestsFor(mirror, "alpha", namespace);
  const document = await requests.version("1.0.0");
  const archive = await requests.archive("1.0.0");
  const whole = archive.status === 200 && archive.complete;
  return { document, archive, whole };
}

it.each(Object.entries(lies))(
  "parts that do not belong together are refused: %s",
  async (_, lie) => {
    const { document, archive } = await tell(lie);
    expect([451, 502]).toContain(document.status);
    expect([451, 502]).toContain(archive.status);
  },
);

it.each(switched)("the archive of %s is never whole", async (of) => {
  const { document, whole } = await tell(`archive=${of}`);
  expect(document.status).toBe(200);
  expect(whole).toBe(false);
});

it("parts that belong together are accepted as told above, so that a lie is the only difference", async () => {
  const { document, archive, whole } = await tell("");
  expect(document.status).toBe(200);
  expect(whole).toBe(true);
  const own = releases.get("own")?.archive(linux).bytes;
  expect(own && archive.body.equals(own)).toBe(true);
});
