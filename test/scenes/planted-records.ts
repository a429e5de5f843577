import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  layOutStore,
  recordPaths,
  type RecordKey,
} from "../../src/store/layout.ts";
import { seal } from "../../src/store/records/seal.ts";

const h1 = `h1:${Buffer.alloc(32, 7).toString("base64")}`;

/** Writes a record as the store would, but for waiting for the disk. */
export function plantRecord(
  directory: string,
  key: RecordKey,
  body: unknown,
): void {
  const paths = recordPaths(layOutStore(directory), key);
  const revision = paths.length > 1 ? 1 : 0;
  const text = seal(key, { revision, body: JSON.stringify(body) });
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
}

/** The hash of an archive that nothing else speaks of. */
export function plantPackageHash(directory: string, seed: string): void {
  const sha256 = createHash("sha256").update(seed).digest("hex");
  const key = ["package-hashes", sha256.slice(0, 2), sha256];
  plantRecord(directory, key, { hash: h1 });
}

/** Plants the record of a namespace, which is never dropped. */
export function plantNamespace(directory: string, namespace: string): void {
  const decisions = { keys: [], contents: [] };
  const body = { firstKey: null, providerKeys: [], decisions, resets: [] };
  const key = ["trust", "namespaces", "registry.terraform.io", namespace];
  plantRecord(directory, key, body);
}

/** Counts the files of records of a room. */
export function countRecords(
  directory: string,
  room: "package-hashes" | "trust" | "providers",
): number {
  const [folder = ""] = recordPaths(layOutStore(directory), [room]);
  const path = folder.slice(0, -".json".length);
  try {
    return readdirSync(path, { recursive: true }).filter((name) =>
      String(name).endsWith(".json"),
    ).length;
  } catch {
    return 0;
  }
}
