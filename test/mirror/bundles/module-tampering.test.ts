import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { digestOf } from "../../fakes/archive.ts";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import {
  makeModuleCalls,
  moduleHost,
  otherHost,
} from "../../scenes/module-calls.ts";
import {
  exportBundle,
  putTogether,
  siteOf,
  takeApart,
  takingSite,
} from "./bundles.ts";

const scene = await makeModuleCalls();
const called = ["--module", `${moduleHost}/acme/network/aws@1.1.0`];
const exported = await exportBundle(
  siteOf(scene.config),
  ...["--platform", "linux_amd64", ...called],
);
const good = readFileSync(exported);

const nowhere = { url: "https://127.0.0.1:1/" };
const hosts = [moduleHost, otherHost, "registry.terraform.io"];
const config = {
  origins: Object.fromEntries(hosts.map((host) => [host, nowhere])),
  policy: { rules: [{ match: `${moduleHost}/banned/*/*`, action: "deny" }] },
};
/** Has imported nothing, and has imported the good bundle. */
const [fresh, seen] = [takingSite(config), takingSite(config)];
expect(await seen.take(good)).toMatchObject({ status: 0 });

/** The good bundle without providers, so that nothing of a tampered one may be imported. */
function parts() {
  const { manifest, members } = takeApart(Buffer.from(good));
  manifest.releases = [];
  const [first, second] = manifest.modules;
  if (!first || !second) throw new Error("too few modules");
  const digests = manifest.modules.map(({ sha256 }) => sha256);
  const isOwn = (sha256: string) => digests.includes(sha256);
  manifest.contents = manifest.contents.filter((one) => isOwn(one.sha256));
  const own = members.filter(([name]) => isOwn(name.replace("contents/", "")));
  return { manifest, first, second, members: own };
}

/** Only the record of the first module was changed. */
function withRecord(change: object): Buffer {
  const made = parts();
  Object.assign(made.first, change);
  return putTogether(made);
}

/** One module, whose archive and record fit together. */
function withArchive(bytes: Buffer, record = {}): Buffer {
  const { manifest, first } = parts();
  const sha256 = digestOf(bytes);
  manifest.modules = [{ ...first, sha256, ...record }];
  manifest.contents = [{ sha256, size: bytes.length }];
  return putTogether({ manifest, members: [[`contents/${sha256}`, bytes]] });
}

const some = await zip([["main.tf", "# other"]]);
const unknown = /not in a form that is known/;

it.each<[string, Buffer, RegExp]>([
  [
    "a folder that leads out",
    withRecord({ subdirectory: "../../etc" }),
    unknown,
  ],
  [
    "a name that leads out",
    withRecord({ module: `${moduleHost}/../../aws` }),
    unknown,
  ],
  ["a malformed commit", withRecord({ commit: "main" }), unknown],
  [
    "an archive of another format than its record says",
    withArchive(await tarGz([["main.tf", ""]]), { format: "zip" }),
    /archive of .* is refused/,
  ],
  [
    "a module of a registry without an origin",
    withArchive(some, { module: "a.example.com/acme/subnet/aws" }),
    /does not serve a\.example\.com/,
  ],
  [
    "a module that the policy forbids",
    withArchive(some, { module: `${moduleHost}/banned/b/aws` }),
    /banned\/b\/aws/,
  ],
])("a bundle with %s imports nothing", async (_, bytes, reason) => {
  expect(await fresh.take(bytes)).toEqual({
    ...{ status: 1, changed: [] },
    said: expect.stringMatching(reason) as unknown,
  });
});

it("another content for what is pinned is a candidate, be it that of another module", async () => {
  const { first, second, ...made } = parts();
  [first.sha256, second.sha256] = [second.sha256, first.sha256];
  for (const bytes of [withArchive(some), putTogether(made)]) {
    const { said, status, changed } = await seen.take(bytes);
    expect(said).toMatch(
      /offered with other content than clients get of it \(expected SHA-256/,
    );
    expect(status).toBe(1);
    for (const path of changed)
      expect(path).toMatch(/^records\/(?:candidates|module_pins)\//);
  }
});

it.each([
  ["another folder", { subdirectory: "deep" }],
  ["a commit that it did not have", { commit: "0".repeat(40) }],
])("%s for the archive that is pinned changes nothing", async (_, claim) => {
  await seen.take(putTogether(parts()));
  expect((await seen.take(withRecord(claim))).changed).toEqual([]);
});

it("a good bundle is imported, once", async () => {
  const bytes = putTogether(parts());
  const again = await seen.take(bytes);
  expect(again.said).toContain("0 archives imported, 3 already there");
  expect(again.changed).toEqual([]);
  const first = await fresh.take(bytes);
  expect(first.said).toContain("3 releases, 3 archives imported");
});
