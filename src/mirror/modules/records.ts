import { z } from "zod";
import { parseSha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { isVersion, type Version } from "../../address/version.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import {
  formatModuleRelease,
  type ForeignRelease,
  type ModuleArchive,
  type ModuleRelease,
  type ModuleReleaseAddress,
} from "./release.ts";

const text = z.string();
const optionalText = text.nullable().transform((value) => value ?? undefined);

const releaseShape = z.object({
  confirmedAt: z.iso.datetime().transform((written) => new Date(written)),
  location: text,
  base: text,
  commit: optionalText,
  moved: optionalText,
});

const archiveShape = z.union([
  z.object({
    sha256: text.transform(parseSha256),
    format: z.enum(["tar.gz", "tar.bz2", "tar.xz", "zip"]),
    subdirectory: text,
    commit: optionalText,
  }),
  z.object({ foreign: text }),
]);

/** How the lists of modules' versions are named on disk. */
export const moduleVersionNaming = {
  format: formatModuleAddress,
  key: (module: ModuleAddress): RecordKey => [...moduleKey(module), "versions"],
};

/** Where releases are, one record a release. */
export class ModuleReleaseRecords implements MetadataRecords<
  ModuleReleaseAddress,
  ModuleRelease
> {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  format(address: ModuleReleaseAddress): string {
    return formatModuleRelease(address);
  }

  weigh({ location, base }: ModuleRelease): number {
    return 512 + location.length + base.length;
  }

  async read(
    address: ModuleReleaseAddress,
  ): Promise<Kept<ModuleRelease> | undefined> {
    const body = await this.#records.read(releaseKey(address));
    const parsed = releaseShape.safeParse(body);
    if (!parsed.success) return undefined;
    const { confirmedAt, ...value } = parsed.data;
    return { confirmedAt, value };
  }

  async stamp(address: ModuleReleaseAddress): Promise<string | undefined> {
    return this.#records.stamp(releaseKey(address));
  }

  async write(
    address: ModuleReleaseAddress,
    { value, confirmedAt }: Kept<ModuleRelease>,
  ): Promise<void> {
    await this.#records.write(releaseKey(address), {
      ...value,
      confirmedAt: confirmedAt.toISOString(),
      commit: value.commit ?? null,
      moved: value.moved ?? null,
    });
  }
}

/** What was seen first of releases' archives, one record a release. */
export class ModuleArchiveRecords {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  async read(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const body = await this.#records.read(archiveKey(address));
    return archiveShape.safeParse(body).data;
  }

  async write(
    address: ModuleReleaseAddress,
    archive: ModuleArchive | ForeignRelease,
  ): Promise<void> {
    const body =
      "foreign" in archive
        ? archive
        : { ...archive, commit: archive.commit ?? null };
    await this.#records.write(archiveKey(address), body);
  }

  /** The versions of which something is recorded, in no order. */
  async listVersions(module: ModuleAddress): Promise<readonly Version[]> {
    const names = await this.#records.list([...moduleKey(module), "archives"]);
    return names.filter(isVersion);
  }
}

function releaseKey({ module, version }: ModuleReleaseAddress): RecordKey {
  return [...moduleKey(module), "releases", version];
}

function archiveKey({ module, version }: ModuleReleaseAddress): RecordKey {
  return [...moduleKey(module), "archives", version];
}

function moduleKey(module: ModuleAddress): RecordKey {
  const { hostname, namespace, name, system } = module;
  return ["modules", hostname, namespace, name, system];
}
