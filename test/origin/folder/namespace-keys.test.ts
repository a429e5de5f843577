import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OriginFolder } from "../../../src/origin/folder/origin-folder.ts";
import { readNamespaceKeys } from "../../../src/origin/folder/folder-providers.ts";
import { scratch } from "../../running-mirror.ts";

const first = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
const last = "-----END PGP PUBLIC KEY BLOCK-----\n";
const many = (line: string) => line.repeat(25_000);
const limits = { keys: 2 * 1024 * 1024 };

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
