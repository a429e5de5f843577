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
type Name = keyof typeof genuine;

/** What the registry tells of alpha 1.0.0 for linux_amd64: of which release each part is genuine, `own` by default. */
const parts = "sums signature shasum filename archive keys".split(" ");

/** Lies as `PART=RELEASE[/PLATFORM]`; `files` are SHA256SUMS with its signature, `all` also the digest and the archive. */
const lies: Readonly<Record<string, string>> = {
  "all checksums of another version": "all=newer",
  "all of another version with its name": "all=newer filename=newer",
  "checksums of another version with the right digest": "files=newer",
  "all checksums of another provider": "all=beta",
  "all of another provider with its name": "all=beta filename=beta",
  "checksums of another provider with the right digest": "files=beta",
  "the signature of another version": "signature=newer",
  "the signature of another provider": "signature=beta",
  "the signature of another publisher": "signature=other",
  "checksums of another version under the right signature": "sums=newer",
  "checksums of another publisher under the right signature":
    "sums=other shasum=other",
  "all of another publisher under the right key": "all=other",
  "another publisher's key": "keys=other",
  "no key": "keys=none",
  "another platform's digest": "shasum=own/darwin",
  "another version's digest": "shasum=newer",
  "another provider's digest": "shasum=beta",
  "another platform with its name":
    "platform=darwin filename=own/darwin shasum=own/darwin archive=own/darwin",
  "another platform's name":
    "filename=own/darwin shasum=own/darwin archive=own/darwin",
  "another platform under the right name":
    "shasum=own/darwin archive=own/darwin",
};

/** All documents are genuine, the bytes are not theirs. */
const switched: Readonly<Record<string, string>> = {
  "another version's archive": "archive=newer",
  "another provider's archive": "archive=beta",
  "another platform's archive": "archive=own/darwin",
  "another publisher's archive": "archive=other",
};

const releases = new Map<Name, Release>();

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

function release(name: string): Release {
  const found = releases.get(name as Name);
  if (found === undefined) throw new Error(`no release ${name}`);
  return found;
}

let told = 0;

/** Has the registry tell this in a namespace of its own, and asks for it. */
async function tell(lie: string) {
  const said = new Map(parts.map((part) => [part, "own"]));
  for (const claim of lie.split(" ").filter(Boolean)) {
    const [part = "", value = ""] = claim.split("=");
    const all = ["sums", "signature", "shasum", "archive"];
    const files = all.slice(0, 2);
    const names = { all, files }[part] ?? [part];
    for (const name of names) said.set(name, value);
  }
  const nameOf = (part: string) => (said.get(part) ?? "").split("/")[0] as Name;
  const archiveOf = (part: string) =>
    release(nameOf(part)).archive(
      said.get(part)?.endsWith("/darwin") === true ? darwin : linux,
    );
  const filesOf = (part: string) => {
    const { namespace, type, version } = genuine[nameOf(part)];
    return `${registry.url}archives/${namespace}/${type}/${version}/`;
  };
  const sumsOf = (part: string) => {
    const { type, version } = genuine[nameOf(part)];
    return `${filesOf(part)}terraform-provider-${type}_${version}_SHA256SUMS`;
  };
  const [os, arch] = (said.has("platform") ? darwin : linux).split("_");
  const keys = said.get("keys") === "none" ? [] : [release(nameOf("keys"))];
  const namespace = `told-${told++}`;
  const base = `/v1/providers/${namespace}/alpha`;
  const platforms = [{ os: "linux", arch: "amd64" }];
  const versions = [{ version: "1.0.0", platforms }];
  registry.serve(`${base}/versions`, JSON.stringify({ versions }));
  registry.serve(
    `${base}/1.0.0/download/linux/amd64`,
    JSON.stringify({
      ...{ os, arch, filename: archiveOf("filename").filename },
      download_url: filesOf("archive") + archiveOf("archive").filename,
      shasums_url: sumsOf("sums"),
      shasums_signature_url: `${sumsOf("signature")}.sig`,
      shasum: archiveOf("shasum").sha256,
      signing_keys: {
        gpg_public_keys: keys.map(({ signer }) => ({
          ascii_armor: signer.armoredPublicKey,
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

it.each(Object.entries(switched))("%s is never whole", async (_, lie) => {
  const { document, whole } = await tell(lie);
  expect(document.status).toBe(200);
  expect(whole).toBe(false);
});

it("parts that belong together are accepted as told above, so that a lie is the only difference", async () => {
  const { document, archive, whole } = await tell("");
  expect(document.status).toBe(200);
  expect(whole).toBe(true);
  expect(archive.body.equals(release("own").archive(linux).bytes)).toBe(true);
});
