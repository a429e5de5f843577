import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { prepareStorageDirectory } from "../../../src/store/storage-directory.ts";
import { mountSmallDisk } from "../../small-disk.ts";
import { noDecisions } from "../../../src/trust/decisions.ts";
import { acme, revokeK } from "../../scenes/trust-records.ts";

const options = "size=512k,nr_inodes=400";
const tried = mountSmallDisk(options);
tried?.unmount();
if (tried === undefined) console.log("SKIPPED: a tmpfs cannot be mounted here");

/** Writes files until the disk is full, or its number of files. */
function fill(directory: string, size: number): void {
  mkdirSync(directory);
  try {
    for (let n = 0; ; n++)
      writeFileSync(join(directory, String(n)), Buffer.alloc(size));
  } catch {
    // It is full now.
  }
}

describe.runIf(tried !== undefined)("on a full disk", () => {
  it.each([
    ["bytes", 4096, 0],
    ["files", 0, 0],
    ["bytes for more than one copy", 4096, 1],
  ])(
    "a decision without %s is refused in a sentence, and one that was made before stays",
    async (_, size, room) => {
      const disk = mountSmallDisk(options);
      if (disk === undefined) throw new Error("it was mounted before");
      const layout = layOutStore(join(disk.directory, "store"));
      mkdirSync(layout.directory, { mode: 0o700 });
      await prepareStorageDirectory(layout);
      const open = () => new TrustStore(new DiskRecords(layout));
      await open().decide(acme, revokeK);
      const filler = join(disk.directory, "filler");
      fill(filler, size);
      for (let n = 0; n < room; n++) rmSync(join(filler, String(n)));
      await expect(open().decide(acme, () => noDecisions)).rejects.toThrow(
        failing("store-full"),
      );
      rmSync(filler, { recursive: true });
      const { decisions } = await open().read(acme);
      if (room === 0) expect(decisions.keys).toHaveLength(1);
      await open().decide(acme, revokeK);
      expect((await open().read(acme)).decisions.keys).toHaveLength(1);
      disk.unmount();
    },
  );
});
