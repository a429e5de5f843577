import { failure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { OriginFolder } from "./origin-folder.ts";

/**
 * Reads the keys that may sign releases of a namespace, ASCII-armored, in the
 * order of their files' names. Clients get them, so only the public key of each
 * *.asc is returned. Throws origin-answer for an invalid file, because
 * the set of signers is unknown then.
 */
export async function readNamespaceKeys(
  folder: OriginFolder,
  namespace: string,
  limits: Pick<OriginLimits, "keys">,
): Promise<readonly string[]> {
  const entries = (await folder.list([namespace, "keys"])) ?? [];
  const names = entries.map(({ name }) => name);
  const keys: string[] = [];
  let size = 0;
  // One after the other: there may be any number.
  for (const name of names.filter((one) => one.endsWith(".asc")).toSorted()) {
    const parts = [namespace, "keys", name];
    const bytes = await folder.read(parts, limits.keys);
    if (bytes === undefined) continue;
    size += bytes.length;
    if (size > limits.keys)
      throw failure(
        "origin-answer",
        folder.nameOf([namespace, "keys"]),
        `its keys have more than ${limits.keys} bytes`,
      );
    const text = Buffer.from(bytes).toString("utf8");
    keys.push(publicKeyIn(text, folder.nameOf(parts)));
  }
  return keys;
}

const first = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const last = "-----END PGP PUBLIC KEY BLOCK-----";

function publicKeyIn(text: string, url: string): string {
  if (text.includes("BEGIN PGP PRIVATE KEY"))
    throw failure(
      "origin-answer",
      url,
      "it has a private key, so put the public one there instead",
    );
  // Never on from a first line to the end of the file: there may be as many of them as it has room for.
  const [, block = ""] = text.split(new RegExp(`^${first}`, "m"), 2);
  const end = block.search(new RegExp(`^${last}`, "m"));
  if (end < 0)
    throw failure("origin-answer", url, "it has no armored public key");
  return `${first}${block.slice(0, end)}${last}\n`;
}
