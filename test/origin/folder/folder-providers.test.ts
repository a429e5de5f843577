import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseHostname } from "../../../src/address/hostname.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { failing } from "../../scenes/failing.ts";
import { OriginFolder } from "../../../src/origin/folder/origin-folder.ts";
import {
  FolderProviders,
  readNamespaceKeys,
} from "../../../src/origin/folder/folder-providers.ts";
import { defaultSigner } from "../../fakes/signing.ts";
import { scratch } from "../../running-mirror.ts";
import { limits, never } from "../clients.ts";
import {
  folderHost,
  makeDist,
  makeOriginFolder,
  putRelease,
} from "../../scenes/origin-folder.ts";

it("says that a folder takes too long, and goes on with what is not read yet when it is asked again", async () => {
  const root = makeOriginFolder(await defaultSigner());
  const count = 40;
  for (let patch = 0; patch < count; patch++)
    await putRelease(root, await makeDist({ version: `1.0.${patch}` }));
  const stop = new AbortController();
  const read: string[] = [];
  const folder = new (class extends OriginFolder {
    override read(parts: readonly string[], most: number) {
      read.push(parts.join("/"));
      if (read.length === 20) stop.abort();
      return super.read(parts, most);
    }
  })(root, parseHostname(folderHost));
  const onUnfit = () => undefined;
  const parts = { folder, limits, signed: true, onUnfit };
  const providers = new FolderProviders(parts);
  const widget = providerAddress(parseHostname(folderHost), "acme", "widget");
  const listing = providers.listVersions(widget, stop.signal);
  await expect(listing).rejects.toThrow(failing("origin-timeout"));
  expect(read.length).toBeLessThan(2 * count);
  const { versions } = await providers.listVersions(widget, never);
  expect(versions).toHaveLength(count);
  expect(new Set(read).size).toBe(read.length);
});

const first = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
const last = "-----END PGP PUBLIC KEY BLOCK-----\n";
const many = (line: string) => line.repeat(25_000);

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
});

it.each<[string, string, string | ((path: string) => void)]>([
  [
    "a private key",
    "it has a private key",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
  ],
  [
    "a pipe that nobody writes to",
    "it is not a file",
    (path) => void execFileSync("mkfifo", [path]),
  ],
  ["first lines alone", "no armored public key", many(first)],
  ["last lines first", "no armored public key", many(last) + many(first)],
  ["no last line", "no armored public key", many(`${first} ${last}`)],
  ["one block that is cut", "no armored public key", many(first) + last],
])("a file is refused at once for %s", async (_, reason, put) => {
  await expect(readKeys(put)).rejects.toThrow(reason);
});
