import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Sha256 } from "../src/address/hash.ts";
import { blobPath, layOutStore } from "../src/store/layout.ts";
import { openDatabase } from "../src/store/database/database.ts";
import { scratch } from "./scratch.ts";

const platforms = 5;

/** A storage directory with so many small archives, the records of their hashes, and those of their releases. */
export function fillStore(archives: number): string {
  const directory = scratch("store");
  const layout = layOutStore(directory);
  const write = makeWriter();
  void openDatabase(layout).close();
  const database = new DatabaseSync(layout.database);
  database.exec("BEGIN");
  const hashes = database.prepare(
    "INSERT INTO package_hashes VALUES (?, 1, ?)",
  );
  const releases = database.prepare(
    "INSERT INTO releases VALUES (?, ?, ?, ?, 1, ?)",
  );
  for (let n = 0; n < archives; n++) {
    const content = `archive ${n}`;
    const sha256 = digestOf(content);
    write(blobPath(layout, sha256), content);
    hashes.run(sha256, JSON.stringify({ unhashable: "it is no archive" }));
    if (n % platforms > 0) continue;
    const number = n / platforms;
    const type = `type-${Math.floor(number / 100)}`;
    // The index's namespace has no ledger yet, so these releases use another one.
    const named = Array.from({ length: platforms }, (_, platform) => [
      `terraform-provider-${type}_1.${number % 100}.0_${platform}.zip`,
      digestOf(`archive ${n + platform}`),
    ]);
    releases.run(
      ...["registry.terraform.io", "kept", type, `1.${number % 100}.0`],
      JSON.stringify({ firstDigests: Object.fromEntries(named) as unknown }),
    );
  }
  database.exec("COMMIT");
  database.close();
  return directory;
}

function digestOf(content: string): Sha256 {
  return createHash("sha256").update(content).digest("hex") as Sha256;
}

function makeWriter(): (path: string, content: string) => void {
  const made = new Set<string>();
  return (path, content) => {
    const folder = dirname(path);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(path, content);
  };
}
