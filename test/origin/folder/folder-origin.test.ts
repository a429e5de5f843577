import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseHostname } from "../../../src/address/hostname.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import {
  makeFolderProviders,
  readNamespaceKeys,
} from "../../../src/origin/folder/folder-providers.ts";
import { OriginFolder } from "../../../src/origin/folder/origin-folder.ts";
import { digestOf } from "../../fakes/archive.ts";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import { makeRelease, type ReleaseOptions } from "../../fakes/release.ts";
import { createSigner, defaultSigner } from "../../fakes/signing.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import { failing } from "../../scenes/failing.ts";
import { awaitLine } from "../../scenes/log-lines.ts";
import { limits, never } from "../clients.ts";

type Files = Record<string, Uint8Array | string>;

function writeFiles(folder: string, files: Readonly<Files>): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), content);
  return folder;
}

/** A folder that stands for a registry, with the keys of `acme`. */
const root = scratch("providers");
const { keyId, armoredPublicKey } = await defaultSigner();
writeFiles(join(root, "acme", "keys"), { [`${keyId}.asc`]: armoredPublicKey });
const folderHost = "registry.example.com";
const mirror = await startMirror({
  config: { origins: { [folderHost]: { directory: root } } },
});

const platforms = ["linux_amd64", "darwin_arm64"];
const modules = join(root, "modules", "acme", "network", "aws");
const providersUrl = `providers/${folderHost}/acme`;
const modulesUrl = `v1/modules/${folderHost}/acme/network/aws`;

async function versionsOf(type: string): Promise<readonly string[]> {
  const answer = await mirror.get(`${providersUrl}/${type}/index.json`);
  return Object.keys((answer.json() as { versions: object }).versions);
}

/** Changes the files of a release, which begin with `name`. */
type Edit = (files: Files, name: string) => Promise<void> | void;

const manifest = '{"version":1,"metadata":{"protocol_versions":["6.0"]}}\n';

/** Makes a release as goreleaser does, with a line for its manifest, and puts it in its place by rename. Returns its folder. */
async function putRelease(
  options: ReleaseOptions,
  edit: Edit = () => undefined,
): Promise<string> {
  const { type = "widget", version } = options;
  const name = `terraform-provider-${type}_${version}`;
  const line = `${digestOf(Buffer.from(manifest))}  ${name}_manifest.json\n`;
  const editChecksums = (text: string) => text + line;
  const release = await makeRelease({ ...options, editChecksums });
  const files: Files = {
    [`${name}_SHA256SUMS`]: release.checksums,
    [`${name}_SHA256SUMS.sig`]: release.signature,
    [`${name}_manifest.json`]: manifest,
  };
  for (const { filename, bytes } of release.archives) files[filename] = bytes;
  await edit(files, name);
  const made = writeFiles(join(scratch("dist"), "made"), files);
  mkdirSync(join(root, "acme", type), { recursive: true });
  const folder = join(root, "acme", type, version);
  renameSync(made, folder);
  return folder;
}

/** Version 1.0.0 of a provider as it was made, and 2.0.0 as it is after `edit`. */
async function putBoth(type: string, edit?: Edit) {
  await putRelease({ type, version: "1.0.0", platforms });
  return putRelease({ type, version: "2.0.0", platforms }, edit);
}

const lose =
  (ending: string): Edit =>
  (files, name) =>
    void Reflect.deleteProperty(files, `${name}_${ending}`);

async function expectUnfit(type: string, reason: string): Promise<void> {
  expect(await versionsOf(type)).toEqual(["1.0.0"]);
  const answer = await mirror.get(`${providersUrl}/${type}/2.0.0.json`);
  expect(answer.status).toBe(404);
  expect(answer.body.toString()).not.toContain(root);
  const folder = join(root, "acme", type, "2.0.0");
  const line = await awaitLine(mirror, (one) => one.folder === folder);
  expect(line.msg).toBe("a folder is not taken for a release");
  expect(line.reason).toContain(reason);
}

it.each<[string, string, Edit]>([
  ["unsummed", "it has no", lose("SHA256SUMS")],
  ["unsigned", "it has no", lose("SHA256SUMS.sig")],
  [
    "renamed",
    "lists no archive",
    (files, name) => {
      const text = String(files[`${name}_SHA256SUMS`]);
      files[`${name}_SHA256SUMS`] = text.replaceAll("2.0.0", "2.0.1");
    },
  ],
  [
    "undescribed",
    "manifest.json yet, which is terraform-registry-manifest.json",
    lose("manifest.json"),
  ],
  [
    "unmanifested",
    "no manifest",
    (files, name) => void (files[`${name}_manifest.json`] = "{}"),
  ],
])(
  "what is no whole release is not listed, and the log names it: %s",
  async (type, reason, edit) => {
    await putBoth(type, edit);
    await expectUnfit(type, reason);
  },
);

it.each([
  ["linked", "terraform-provider-linked_2.0.0_SHA256SUMS"],
  ["archived", "terraform-provider-archived_2.0.0_linux_amd64.zip"],
  ["abroad", ""],
])("what lies outside of the folder is no release: %s", async (type, name) => {
  const place = join(await putBoth(type), name);
  const outside = join(scratch("outside"), "file");
  renameSync(place, outside);
  symlinkSync(outside, place);
  await expectUnfit(type, "leads out of the folder");
});

it("a release without a signature by an allowed key is refused", async () => {
  const stranger = await createSigner();
  await putBoth("stranger", async (files, name) => {
    const document = Buffer.from(files[`${name}_SHA256SUMS`] ?? "");
    files[`${name}_SHA256SUMS.sig`] = await stranger.sign(document);
  });
  const path = `${providersUrl}/stranger`;
  expect((await mirror.get(`${path}/2.0.0.json`)).status).toBe(451);
  expect((await mirror.get(`${path}/1.0.0.json`)).status).toBe(200);
});

it("a release that appears is listed without a restart, on both protocols", async () => {
  await putRelease({ version: "1.0.0" });
  expect(await versionsOf("widget")).toEqual(["1.0.0"]);
  await putRelease({ version: "1.1.0" });
  await expect.poll(() => versionsOf("widget")).toEqual(["1.1.0", "1.0.0"]);
  const facade = await mirror.get(`v1/${providersUrl}/widget/versions`);
  const linux = [{ os: "linux", arch: "amd64" }];
  expect(facade.json()).toMatchObject({
    versions: [
      { version: "1.1.0", protocols: ["6.0"], platforms: linux },
      { version: "1.0.0" },
    ],
  });
});

it("modules are of both kinds, and what is cut, ambiguous or leads out is none", async () => {
  const two = await zip([["main.tf", "# two"]]);
  writeFiles(modules, {
    "1.0.0.tar.gz": await tarGz([["main.tf", "# one"]]),
    "1.1.0.zip": two,
    "1.2.0.tar.gz": (await tarGz([["main.tf", "# cut"]])).subarray(0, -4),
    "1.4.0.tar.gz": await tarGz([["main.tf", "# one or"]]),
    "1.4.0.zip": await zip([["main.tf", "# the other"]]),
    "notes.txt": "",
  });
  symlinkSync("/etc/passwd", join(modules, "1.3.0.zip"));
  writeFiles(join(modules, "1.5.0.zip"), { "a.tf": "" });
  const list = await mirror.get(`${modulesUrl}/versions`);
  const versions = ["1.3.0", "1.2.0", "1.1.0", "1.0.0"];
  expect(list.json()).toMatchObject({
    modules: [{ versions: versions.map((version) => ({ version })) }],
  });
  for (const name of ["1.0.0/archive.tar.gz", "1.1.0/archive.zip"]) {
    const [version] = name.split("/");
    const found = await mirror.get(`${modulesUrl}/${version}/download`);
    const place = `${mirror.url}${modulesUrl}/${name}`;
    expect(found.headers["x-terraform-get"]).toBe(place);
    expect((await mirror.get(place)).status).toBe(200);
  }
  const cut = await mirror.get(`${modulesUrl}/1.2.0/download`);
  expect(cut.status).toBe(451);
  const linked = await mirror.get(`${modulesUrl}/1.3.0/download`);
  expect(linked.status).toBe(502);
  expect(linked.body.toString()).toContain("leads out of the folder");
  expect(linked.body.toString()).not.toContain(root);
  writeFiles(modules, { "1.1.0.zip": "other" });
  const kept = await mirror.get(`${modulesUrl}/1.1.0/archive.zip`);
  expect(kept.body).toEqual(two);
});

it("a folder that takes too long is said to, and it goes on with what is not read yet when it is asked again", async () => {
  const count = 40;
  for (let patch = 0; patch < count; patch++)
    await putRelease({ type: "many", version: `1.0.${patch}` });
  const stop = new AbortController();
  const read: string[] = [];
  const folder = new (class extends OriginFolder {
    override read(parts: readonly string[], most: number) {
      read.push(parts.join("/"));
      if (read.length === 20) stop.abort();
      return super.read(parts, most);
    }
  })(root, parseHostname(folderHost));
  const providers = makeFolderProviders(folder, limits, true, () => undefined);
  const many = providerAddress(parseHostname(folderHost), "acme", "many");
  const listing = providers.listVersions(many, stop.signal);
  await expect(listing).rejects.toThrow(failing("origin-timeout"));
  expect(read.length).toBeLessThan(2 * count);
  const { versions } = await providers.listVersions(many, never);
  expect(versions).toHaveLength(count);
  expect(new Set(read).size).toBe(read.length);
});

const first = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
const last = "-----END PGP PUBLIC KEY BLOCK-----\n";
const lines = (line: string) => line.repeat(25_000);

function readKeys(
  put: string | ((path: string) => void),
): Promise<readonly string[]> {
  const directory = scratch("keys");
  mkdirSync(join(directory, "acme", "keys"), { recursive: true });
  const path = join(directory, "acme", "keys", "a.asc");
  if (typeof put === "string") writeFileSync(path, put);
  else put(path);
  return readNamespaceKeys(new OriginFolder(directory), "acme", limits);
}

it("the keys of a namespace are the first public block of each file, and nothing around it", async () => {
  const block = `${first}\nAAAA\n${last}`;
  const text = `Our key:\n${block}${block}private notes\n`;
  expect(await readKeys(text)).toEqual([block]);
  const pipe = readKeys((path) => void execFileSync("mkfifo", [path]));
  await expect(pipe).rejects.toThrow("it is not a file");
  const secret = readKeys("-----BEGIN PGP PRIVATE KEY BLOCK-----\n");
  await expect(secret).rejects.toThrow("it has a private key");
});

it.each([
  ["last lines first", lines(last) + lines(first)],
  ["no last line", lines(`${first} ${last}`)],
  ["one block that is cut", lines(first) + last],
])("a file has no key at once for %s", async (_, text) => {
  await expect(readKeys(text)).rejects.toThrow("no armored public key");
});
