import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import {
  makeModuleCalls,
  moduleHost,
  otherHost,
} from "../../scenes/module-calls.ts";
import {
  digestOf,
  exportBundle,
  putTogether,
  siteOf,
  takeApart,
  takingSite,
  type ManifestModule,
} from "./bundles.ts";

const scene = await makeModuleCalls();
const called = ["--module", `${moduleHost}/acme/network/aws@1.1.0`];
const exported = await exportBundle(
  siteOf({ config: scene.config }),
  ...["--platform", "linux_amd64", ...called],
);
const good = readFileSync(exported);

const nowhere = { url: "https://127.0.0.1:1/" };
const hosts = [moduleHost, otherHost, "registry.terraform.io"];
const options = {
  config: {
    origins: Object.fromEntries(hosts.map((host) => [host, nowhere])),
    policy: { rules: [{ match: `${moduleHost}/banned/*/*`, action: "deny" }] },
  },
};
/** Has imported nothing, and has imported the good bundle. */
const [fresh, seen] = [await takingSite(options), await takingSite(options)];
expect(await seen.take(good)).toMatchObject({ status: 0 });

/** The good bundle without providers, so that nothing of a tampered one may be imported. */
function parts() {
  const { manifest, members } = takeApart(Buffer.from(good));
  Object.assign(manifest, { releases: [], proofs: [], archives: [] });
  const [first, second] = manifest.modules;
  if (!first || !second) throw new Error("too few modules");
  const own = members.filter(({ name }) => name.startsWith("modules/"));
  return { manifest, first, second, members: own };
}

/** Only the record of the first module was changed. */
function withRecord(change: object): Buffer {
  const made = parts();
  Object.assign(made.first, change);
  return putTogether(made);
}

/** One module, whose archive and record fit together. */
function withArchive(
  bytes: Buffer,
  record: Partial<ManifestModule> = {},
): Buffer {
  const { manifest, first } = parts();
  const sha256 = digestOf(bytes);
  manifest.modules = [{ ...first, sha256, ...record }];
  manifest.moduleArchives = [{ sha256, size: bytes.length }];
  const members = [{ name: `modules/${sha256}`, bytes }];
  return putTogether({ manifest, members });
}

/** Expects that nothing is there, gone or other after an import but candidates. */
async function expectNothing(
  { take }: typeof fresh,
  bytes: Buffer,
  reason: RegExp,
) {
  const { said, status, changed } = await take(bytes);
  expect(said).toMatch(reason);
  expect(status).toBe(1);
  const isOfCandidates = (path: string) =>
    path.includes("/candidates/") || path.includes("/module_pins/");
  expect(changed.filter((path) => !isOfCandidates(path))).toEqual([]);
}

const unknown = /not in a form that is known/;

describe("a tampered bundle with modules imports nothing", () => {
  it.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    [
      "the digest of another archive in a record",
      () => withRecord({ sha256: "0".repeat(64) }),
      /none of its releases speaks of/,
    ],
    [
      "a folder that leads out",
      () => withRecord({ subdirectory: "../../etc" }),
      unknown,
    ],
    [
      "a name that leads out",
      () => withRecord({ module: `${moduleHost}/../../aws` }),
      unknown,
    ],
    ["a malformed commit", () => withRecord({ commit: "main" }), unknown],
    [
      "a record with more than it should have",
      () => withRecord({ trusted: true }),
      unknown,
    ],
    [
      "an archive of another format than its record says",
      async () =>
        withArchive(await tarGz([["main.tf", ""]]), { format: "zip" }),
      /archive of .* is refused/,
    ],
    [
      "a module of a registry without an origin",
      async () =>
        withArchive(await zip([["main.tf", ""]]), {
          module: "elsewhere.example.com/acme/subnet/aws",
        }),
      /does not serve elsewhere.example.com/,
    ],
    [
      "a module that the policy forbids",
      async () =>
        withArchive(await zip([["main.tf", ""]]), {
          module: `${moduleHost}/banned/subnet/aws`,
        }),
      /banned\/subnet\/aws/,
    ],
  ])("with %s", async (_, make, reason) => {
    await expectNothing(fresh, await make(), reason);
  });

  it.each<[string, () => Buffer | Promise<Buffer>]>([
    [
      "another content",
      async () => withArchive(await zip([["main.tf", "# other"]])),
    ],
    [
      "the content of another module",
      () => {
        const { first, second, ...made } = parts();
        [first.sha256, second.sha256] = [second.sha256, first.sha256];
        return putTogether(made);
      },
    ],
  ])("with %s for what is pinned", async (_, make) => {
    await expectNothing(
      seen,
      await make(),
      /offered with other content than clients get of it \(expected SHA-256/,
    );
  });

  it.each([
    ["another folder", { subdirectory: "deep" }],
    ["a commit that it did not have", { commit: "0".repeat(40) }],
  ])("with %s for the archive that is pinned", async (_, claim) => {
    await seen.take(putTogether(parts()));
    expect((await seen.take(withRecord(claim))).changed).toEqual([]);
  });

  it("but a good one does, once", async () => {
    const bytes = putTogether(parts());
    expect(await seen.take(bytes)).toMatchObject({
      said: expect.stringContaining(
        "0 archives imported, 3 already there",
      ) as unknown,
      changed: [],
    });
    expect((await fresh.take(bytes)).said).toContain(
      "3 releases, 3 archives imported",
    );
  });
});
