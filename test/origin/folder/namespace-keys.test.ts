import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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

describe("the keys of a namespace", () => {
  it("are the first public block of each file, and nothing around it", async () => {
    const block = `${first}\nAAAA\n${last}`;
    const text = `Our key:\n${block}${block}private notes\n`;
    expect(await readKeys(text)).toEqual([block]);
  });

  it("are not looked for in a private key, or in a pipe that nobody writes to", async () => {
    const secret = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n";
    await expect(readKeys(secret)).rejects.toThrow("it has a private key");
    const pipe = readKeys((path) => void execFileSync("mkfifo", [path]));
    await expect(pipe).rejects.toThrow("it is not a file");
  });

  it.each([
    ["first lines alone", many(first)],
    ["last lines alone", many(last)],
    ["last lines before first ones", many(last) + many(first)],
    ["lines that only look like last ones", many(`${first} ${last}`)],
    ["one block that is cut after others", many(first) + last],
  ])(
    "are none, and known as that at once, where a file has %s",
    async (...row) => {
      await expect(readKeys(row[1])).rejects.toThrow("no armored public key");
    },
  );
});
