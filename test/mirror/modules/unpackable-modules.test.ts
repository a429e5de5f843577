import { pino } from "pino";
import { expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import { moduleAddress } from "../../../src/address/module-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import {
  ModuleArchives,
  type ModuleStart,
} from "../../../src/mirror/modules/archives.ts";
import { NotPackable } from "../../../src/mirror/modules/packing/archive.ts";
import { ModuleArchiveRecords } from "../../../src/mirror/modules/records.ts";
import type { ModuleArchive } from "../../../src/mirror/modules/release.ts";
import { ModuleReplacements } from "../../../src/mirror/modules/replacements.ts";
import { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import { AuditLog } from "../../../src/telemetry/audit-log.ts";
import { makeLayout } from "../../store/stores.ts";

const address = {
  module: moduleAddress("registry.terraform.io", "acme", "network", "aws"),
  version: parseVersion("1.0.0"),
};
const first: ModuleArchive = {
  sha256: parseSha256("a".repeat(64)),
  format: "tar.gz",
  subdirectory: "",
  commit: undefined,
};

/** Another process records the archive that it saw, right after this one looked. */
class RecordsOfTwo extends ModuleArchiveRecords {
  override async read(of: typeof address) {
    const found = await super.read(of);
    await super.keep(of, first, undefined);
    return found;
  }
}

const never = (): never => {
  throw new Error("it is not asked for");
};

it("an archive that another process saw first outlives that only clients can fetch the module here", async () => {
  const layout = await makeLayout();
  const logger = pino({ enabled: false });
  const alarms = new Alarms(logger, undefined);
  const audit = new AuditLog({
    ...layout.audit,
    now: () => new Date(),
    onLost: never,
  });
  const records = new RecordsOfTwo(new DiskRecords(layout));
  const archives = new ModuleArchives({
    ...{ blobs: new BlobStore(layout), records, nearest: undefined },
    ...{ reserve: never, verify: never, onFirstSeen: never, onFailed: never },
    limits: { fills: 1, fillsPerOrigin: 1, waiters: 1 },
    replacements: new ModuleReplacements({ records, alarms, audit, logger }),
  });
  const start: ModuleStart = {
    ...{ hostname: "registry.terraform.io", host: "example.com" },
    ...{ format: "tar.gz", subdirectory: "", checksum: undefined },
    open: () => Promise.reject(new NotPackable("it has submodules")),
  };
  const { signal } = new AbortController();
  expect(await archives.fetch(address, start, signal)).toEqual(first);
  expect(await records.read(address)).toEqual(first);
  await archives.close();
  alarms.close();
  await audit.close();
});
