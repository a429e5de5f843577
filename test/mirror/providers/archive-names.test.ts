import { afterEach, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import { startWorld } from "../../scenes/world.ts";

const platforms = ["linux_amd64", "darwin_arm64"];
const mirrored = "providers/registry.terraform.io/acme/";
const published = "v1/providers/registry.terraform.io/acme/";

const { registry, mirror } = await startWorld();
afterEach(() => registry.heal());

async function archivesOf(type: string) {
  const answer = await mirror.get(`${mirrored}${type}/1.0.0.json`);
  expect(answer.status).toBe(200);
  const { archives } = answer.json() as {
    archives: Record<string, { url: string; hashes: string[] }>;
  };
  return archives;
}

it("VERSION.json of 14 platforms takes a question of each kind and no archive, and has no h1 that only the registry reports", async () => {
  const offered = Array.from({ length: 14 }, (_, n) => `os${n}_amd64`);
  for (const type of ["first", "second"]) {
    const release = await registry.publish({
      ...{ type, version: "1.0.0", platforms: offered },
    });
    registry.requests.clear();
    const archives = await archivesOf(type);
    const asked = registry.requests.list().map(({ kind }) => kind);
    expect(asked.toSorted()).toEqual([
      "checksums",
      ...(type === "first" ? ["discovery"] : []),
      ...["package", "signature", "versions"],
    ]);
    const expected = release.archives.map((archive) => [
      archive.platform,
      { url: archive.filename, hashes: [`zh:${archive.sha256}`] },
    ]);
    expect(archives).toEqual(Object.fromEntries(expected));
  }
});

it.each<[string, readonly object[] | undefined, readonly string[]]>([
  ["no platforms", undefined, platforms],
  ["an empty list of platforms", [], platforms],
  [
    "some of them, and malformed ones",
    [
      { os: "linux", arch: "amd64" },
      { os: "../..", arch: "%2e" },
    ],
    ["linux_amd64"],
  ],
])(
  "VERSION.json has what is signed as far as it is offered, where the list has %s",
  async (name, listed, expected) => {
    const type = `listed-${name.length}`;
    await registry.publish({ type, version: "1.0.0", platforms });
    const one = { version: "1.0.0", protocols: ["5.0"], platforms: listed };
    registry.script(
      "versions",
      faults.json(() => ({ versions: [one] })),
    );
    expect(Object.keys(await archivesOf(type)).toSorted()).toEqual(
      expected.toSorted(),
    );
  },
);

// Other writings have their rows in test/address/archive-name.test.ts.
it("archives with names of their own are served under their usual ones, and by the registry protocol under their own", async () => {
  const type = "dash";
  const nameArchive = (p: string) =>
    `terraform-provider-dash-v1.0.0-${p.replace("_", "-")}-bin.zip`;
  const release = await registry.publish({
    ...{ type, version: "1.0.0", platforms, nameArchive },
  });
  const archives = await archivesOf(type);
  expect(Object.keys(archives).toSorted()).toEqual(platforms.toSorted());
  for (const platform of platforms) {
    const { sha256, bytes, os, arch } = release.archive(platform);
    const url = `terraform-provider-${type}_1.0.0_${platform}.zip`;
    expect(archives[platform]).toMatchObject({ url });
    expect(archives[platform]?.hashes).toContain(`zh:${sha256}`);
    const archive = await mirror.get(`${mirrored}${type}/${url}`);
    expect(archive.body.equals(bytes)).toBe(true);
    const download = `${published}${type}/1.0.0/download/${os}/${arch}`;
    const document = (await mirror.get(download)).json();
    const filename = nameArchive(platform);
    expect(document).toMatchObject({ filename, shasum: sha256 });
    const { download_url: place } = document as { download_url: string };
    expect(new URL(place).pathname.endsWith(`/${url}`)).toBe(true);
  }
});

let types = 0;
const [b, c] = ["b".repeat(64), "c".repeat(64)];

it.each<[string, (sums: string, name: string) => string]>([
  [
    "lines for what is no archive decide nothing, whatever they are",
    (sums, name) =>
      `${b}${b}  ${name}_manifest.json\n${sums}${c}  ${name}_SBOM.json\n` +
      `${b}  ${name}_SBOM.json\nnone  ${name}_source.zip\n`,
  ],
  [
    "the usual name counts beside others, and of two others neither",
    (sums, name) =>
      `${sums}${b}  ${name.replaceAll("_", "-")}-linux-amd64-debug.zip\n` +
      `${b}  ${name}_linux_arm_small.zip\n${c}  ${name}_linux_arm_large.zip\n`,
  ],
])("%s", async (_, edit) => {
  const type = `sums${(types += 1)}`;
  const name = `terraform-provider-${type}_1.0.0`;
  const release = await registry.publish({
    ...{ type, version: "1.0.0", platforms },
    editChecksums: (sums) => edit(sums, name),
  });
  const archives = await archivesOf(type);
  expect(Object.keys(archives).toSorted()).toEqual(platforms.toSorted());
  for (const { platform, sha256 } of release.archives)
    expect(archives[platform]?.hashes).toContain(`zh:${sha256}`);
});

it("a list with parts that are malformed keeps the others, and drops hints for themselves", async () => {
  for (const version of ["1.0.0", "1.1.0", "1.2.0"])
    await registry.publish({ type: "parts", version, platforms });
  const protocols = ["5.0", "1; mode=block", 5];
  const versions = [
    { version: "1.0.0", protocols },
    { version: "1.1.0", protocols: "5.0", platforms: [{ os: "linux" }] },
    { version: "1.2.0", protocols: { a: 1 }, platforms: 3 },
    ...[{ version: 2 }, { versions: "3.0.0" }, "4.0.0", null, []],
  ];
  const list = JSON.stringify({ versions, warnings: [5] });
  registry.script("versions", faults.body(list));
  const index = await mirror.get(`${mirrored}parts/index.json`);
  expect(index.json()).toEqual({
    versions: { "1.0.0": {}, "1.1.0": {}, "1.2.0": {} },
  });
  const document = await mirror.get(`${published}parts/versions`);
  expect(document.json()).toMatchObject({
    versions: [
      { version: "1.2.0", protocols: [] },
      { version: "1.1.0", protocols: [] },
      { version: "1.0.0", protocols: ["5.0"] },
    ],
  });
});

it.each<[string, { readonly keys?: readonly unknown[]; protocols?: unknown }]>([
  ["keys without text", { keys: [{}, { ascii_armor: null }] }],
  [
    "malformed keys",
    { keys: [{ ascii_armor: 5 }, { ascii_armor: "x", key_id: {} }] },
  ],
  ["malformed protocols", { protocols: ["1; mode=block"] }],
  ["protocols that are no text", { protocols: [5] }],
  ["protocols of another form", { protocols: { a: 1 } }],
])(
  "a package of relative URLs with %s is served, and with the list's protocols",
  async (name, { keys = [], ...change }) => {
    const type = `package-${name.length}`;
    const release = { type, version: "1.0.0", platforms };
    await registry.publish({ ...release, urls: "relative" });
    const edit = faults.json(({ signing_keys, ...document }) => {
      const { gpg_public_keys: own } = signing_keys as {
        readonly gpg_public_keys: readonly unknown[];
      };
      const gpg_public_keys = [...own, ...keys];
      return { ...document, ...change, signing_keys: { gpg_public_keys } };
    });
    registry.script("package", edit);
    expect(Object.keys(await archivesOf(type))).toHaveLength(2);
    const path = `${published}${type}/1.0.0/download/linux/amd64`;
    const answer = await mirror.get(path);
    expect(answer.json()).toMatchObject({ protocols: ["5.0"] });
  },
);
