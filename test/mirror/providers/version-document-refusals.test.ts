import { describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { createSigner } from "../../fakes/signing.ts";
import { expectRefusal } from "../../scenes/failing-origin.ts";
import {
  DocumentScene,
  opentofu,
  terraform,
} from "../../scenes/document-scene.ts";

const scene = new DocumentScene();

describe("an unsigned provider", () => {
  it("is refused where signatures are required, and nothing is asked for", async () => {
    const release = await scene.publish({ signingKeys: [] });
    expectRefusal(await scene.ask(release), 451, "signature-missing");
    expect(scene.registry.requests.count("archive")).toBe(0);
  });

  it("is served where they are checked when published", async () => {
    const release = await scene.publish({ signingKeys: [] });
    expect(Object.keys(await scene.archivesOf(release, opentofu))).toEqual([
      "linux_amd64",
    ]);
  });
});

describe.each([terraform, opentofu])("on %s, a published key", (hostname) => {
  it("that did not sign refuses the release", async () => {
    const stranger = await createSigner({ algorithm: "ed25519" });
    const release = await scene.publish({ signingKeys: [stranger] });
    expectRefusal(await scene.ask(release, hostname), 451, "signature-refused");
  });

  it("with a signature of other checksums refuses the release", async () => {
    const release = await scene.publish();
    const other = await makeRelease({ version: "1.0.0", seed: "other" });
    scene.registry.script("signature", faults.body(other.signature));
    expectRefusal(await scene.ask(release, hostname), 451, "signature-refused");
  });

  it("without the URL of a signature refuses the release", async () => {
    const release = await scene.publish({ signature: "unlisted" });
    expectRefusal(await scene.ask(release, hostname), 451, "signature-missing");
  });

  it("without the signature at its URL is not there", async () => {
    const release = await scene.publish({ signature: "missing" });
    expectRefusal(await scene.ask(release, hostname), 404, "not-found");
  });

  it("that cannot be read refuses the release", async () => {
    const release = await scene.publish();
    const gpg_public_keys = [{ ascii_armor: "-----BEGIN NOTHING-----" }];
    scene.registry.script(
      "package",
      faults.json((document) => ({
        ...document,
        signing_keys: { gpg_public_keys },
      })),
    );
    expectRefusal(await scene.ask(release, hostname), 451, "signature-refused");
  });
});

describe("signed checksums", () => {
  it("may name other files beside, of which none is served", async () => {
    const release = await scene.publish({
      platforms: ["linux_amd64", "darwin_arm64"],
      editChecksums: (text) =>
        `${text}${text.replaceAll("_1.0.0_", "_2.0.0_")}${"0".repeat(64)}  terraform-provider-x_1.0.0_manifest.json\n`,
    });
    const archives = await scene.archivesOf(release);
    expect(Object.keys(archives)).toEqual(["darwin_arm64", "linux_amd64"]);
  });

  it("are matched without regard to the case of the registry's digest", async () => {
    const release = await scene.publish();
    scene.registry.script(
      "package",
      faults.json((document) => ({
        ...document,
        shasum: String(document.shasum).toUpperCase(),
      })),
    );
    expect(Object.keys(await scene.archivesOf(release))).toEqual([
      "linux_amd64",
    ]);
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
    ["a malformed digest", { shasum: "abc" }],
    ["no digest", { shasum: undefined }],
    ["a malformed URL", { shasums_url: "https://" }],
    ["no archive", { download_url: null }],
  ])("with %s is unusable: the origin fails", async (_, change) => {
    const release = await scene.publish();
    scene.registry.script(
      "package",
      faults.json((document) => ({ ...document, ...change })),
    );
    expectRefusal(await scene.ask(release), 502, "origin-answer");
    scene.registry.heal();
    expect(Object.keys(await scene.archivesOf(release))).toEqual([
      "linux_amd64",
    ]);
  });

  it("whose digest is not the signed one stops that archive", async () => {
    const release = await scene.publish({ size: 100_000 });
    scene.registry.script("package", otherDigest);
    const answer = await scene.mirror.get(pathOf(release));
    expectRefusal(answer, 451, "checksum-conflict");
    expect(scene.registry.requests.count("archive")).toBe(0);
  });

  it("whose digest changes later is not asked for again: what is served is what was signed", async () => {
    const release = await scene.publish({ size: 100_000 });
    await scene.archivesOf(release);
    scene.registry.script("package", otherDigest);
    const { status, body } = await scene.mirror.get(pathOf(release));
    expect(status).toBe(200);
    expect(body).toEqual(release.archive("linux_amd64").bytes);
  });
});
