import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import * as faults from "../../fakes/faults.ts";
import {
  startRegistry,
  type PublishOptions,
  type Registry,
} from "../../fakes/registry.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { createSigner } from "../../fakes/signing.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { expectRefusal } from "../../scenes/failing-origin.ts";

const terraform = "registry.terraform.io";
const opentofu = "registry.opentofu.org";

let authority: Authority;
let registry: Registry;
let mirror: RunningMirror;
let names = 0;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  const required = originsOf(authority, registry);
  const published = originsOf(
    authority,
    registry,
    { signatures: "when-published" },
    opentofu,
  );
  mirror = await startMirror({
    config: { origins: { ...required.origins, ...published.origins } },
  });
});

afterEach(() => {
  registry.heal();
  registry.requests.clear();
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

function publish(options: Partial<PublishOptions> = {}): Promise<Release> {
  const type = `doc${(names += 1)}`;
  return registry.publish({ type, version: "1.0.0", ...options });
}

function ask({ type }: Release, hostname = terraform) {
  return mirror.get(`/providers/${hostname}/acme/${type}/1.0.0.json`);
}

async function archivesOf(release: Release, hostname = terraform) {
  const answer = await ask(release, hostname);
  expect(answer.status).toBe(200);
  const { archives } = answer.json() as {
    archives: Record<string, { url: string; hashes: string[] }>;
  };
  return archives;
}

describe("an unsigned provider", () => {
  it("is refused where signatures are required, and nothing is asked for", async () => {
    const release = await publish({ signingKeys: [] });
    expectRefusal(await ask(release), 451, "signature-missing");
    expect(registry.requests.count("archive")).toBe(0);
  });

  it("is served where they are checked when published", async () => {
    const release = await publish({ signingKeys: [] });
    expect(Object.keys(await archivesOf(release, opentofu))).toEqual([
      "linux_amd64",
    ]);
  });
});

describe.each([terraform, opentofu])("on %s, a published key", (hostname) => {
  it("that did not sign refuses the release", async () => {
    const stranger = await createSigner({ algorithm: "ed25519" });
    const release = await publish({ signingKeys: [stranger] });
    expectRefusal(await ask(release, hostname), 451, "signature-refused");
  });

  it("with a signature of other checksums refuses the release", async () => {
    const release = await publish();
    const other = await makeRelease({ version: "1.0.0", seed: "other" });
    registry.script("signature", faults.body(other.signature));
    expectRefusal(await ask(release, hostname), 451, "signature-refused");
  });

  it("without the URL of a signature refuses the release", async () => {
    const release = await publish({ signature: "unlisted" });
    expectRefusal(await ask(release, hostname), 451, "signature-missing");
  });

  it("without the signature at its URL is a failing origin", async () => {
    const release = await publish({ signature: "missing" });
    expectRefusal(await ask(release, hostname), 502, "origin-status");
  });

  it("that cannot be read refuses the release", async () => {
    const release = await publish();
    const gpg_public_keys = [{ ascii_armor: "-----BEGIN NOTHING-----" }];
    registry.script(
      "package",
      faults.json((document) => ({
        ...document,
        signing_keys: { gpg_public_keys },
      })),
    );
    expectRefusal(await ask(release, hostname), 451, "signature-refused");
  });
});

describe("signed checksums", () => {
  it("of another version, rightly signed, vouch for nothing of this one", async () => {
    const release = await publish({
      editChecksums: (text) => text.replaceAll("_1.0.0_", "_0.9.0_"),
    });
    expectRefusal(await ask(release), 451, "archive-not-signed");
  });

  it("of another provider, rightly signed, vouch for nothing of this one", async () => {
    const release = await publish({
      editChecksums: (text) =>
        text.replaceAll(/terraform-provider-\w+?_/g, "terraform-provider-x_"),
    });
    expectRefusal(await ask(release), 451, "archive-not-signed");
  });

  it("may name other files beside, of which none is served", async () => {
    const release = await publish({
      platforms: ["linux_amd64", "darwin_arm64"],
      editChecksums: (text) =>
        `${text}${text.replaceAll("_1.0.0_", "_2.0.0_")}${"0".repeat(64)}  terraform-provider-x_1.0.0_manifest.json\n`,
    });
    const archives = await archivesOf(release);
    expect(Object.keys(archives)).toEqual(["darwin_arm64", "linux_amd64"]);
  });

  it.each<[string, (text: string) => string]>([
    ["a star before a name", (text) => text.replace("  ", " *")],
    ["a short digest", (text) => text.slice(1)],
    [
      "two digests of one name",
      (text) => `${text}${"0".repeat(64)}${text.slice(64)}`,
    ],
    ["a byte order mark", (text) => `\uFEFF${text}`],
  ])("with %s are refused though rightly signed", async (_, editChecksums) => {
    const release = await publish({ editChecksums });
    expectRefusal(await ask(release), 451, "checksums-malformed");
  });

  it("that differ from the registry's digest are refused", async () => {
    const release = await publish();
    registry.script(
      "package",
      faults.json((document) => ({ ...document, shasum: "0".repeat(64) })),
    );
    expectRefusal(await ask(release), 451, "checksum-conflict");
  });

  it("are matched without regard to the case of the registry's digest", async () => {
    const release = await publish();
    registry.script(
      "package",
      faults.json((document) => ({
        ...document,
        shasum: String(document.shasum).toUpperCase(),
      })),
    );
    expect(Object.keys(await archivesOf(release))).toEqual(["linux_amd64"]);
  });
});

const otherDigest = faults.json((document) => ({
  ...document,
  shasum: "0".repeat(64),
}));

function pathOf(release: Release): string {
  const { filename } = release.archive("linux_amd64");
  return `/providers/${terraform}/acme/${release.type}/${filename}`;
}

describe("a package answer", () => {
  it.each<[string, Record<string, unknown>]>([
    [
      "another version's file",
      { filename: "terraform-provider-doc_0.9.0_linux_amd64.zip" },
    ],
    [
      "another provider's file",
      { filename: "terraform-provider-x_1.0.0_linux_amd64.zip" },
    ],
    ["a path as its file", { filename: "../x.zip" }],
    ["another system", { os: "windows" }],
    ["another architecture", { arch: "arm64" }],
    ["a digest that is none", { shasum: "abc" }],
    ["no digest", { shasum: undefined }],
    ["a URL that is none", { shasums_url: "https://" }],
    ["no archive", { download_url: null }],
  ])("with %s is unusable: the origin fails", async (_, change) => {
    const release = await publish();
    registry.script(
      "package",
      faults.json((document) => ({ ...document, ...change })),
    );
    expectRefusal(await ask(release), 502, "origin-answer");
    registry.heal();
    expect(Object.keys(await archivesOf(release))).toEqual(["linux_amd64"]);
  });

  it("whose digest is not the signed one stops that archive", async () => {
    const release = await publish({ size: 100_000 });
    registry.script("package", otherDigest);
    const answer = await mirror.get(pathOf(release));
    expectRefusal(answer, 451, "checksum-conflict");
    expect(registry.requests.count("archive")).toBe(0);
  });

  it("whose digest changes later is not asked for again: what is served is what was signed", async () => {
    const release = await publish({ size: 100_000 });
    await archivesOf(release);
    registry.script("package", otherDigest);
    const { status, body } = await mirror.get(pathOf(release));
    expect(status).toBe(200);
    expect(body).toEqual(release.archive("linux_amd64").bytes);
  });
});
