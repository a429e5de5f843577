import { z } from "zod";
import { parseSha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  moduleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { archiveFormats } from "../../address/module-archive-name.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { ifAddress } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-records.ts";
import {
  formatModuleRelease,
  isArchive,
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
    format: z.enum(archiveFormats),
    subdirectory: text,
    commit: optionalText,
  }),
  z.object({ foreign: text }),
]);

const offeredShape = z.object({ offered: z.array(text) });

/** Contents that a release is remembered to have been offered with beside its own; an origin may have any number. */
const mostOffered = 16;

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
    return this.#records.read(releaseKey(address), readRelease);
  }

  async stamp(address: ModuleReleaseAddress): Promise<string | undefined> {
    return this.#records.stamp(releaseKey(address));
  }

  /** What another process saw first meanwhile stays, and is returned. */
  async write(
    address: ModuleReleaseAddress,
    kept: Kept<ModuleRelease>,
    known: ModuleRelease | undefined,
  ): Promise<Kept<ModuleRelease>> {
    const { value, confirmedAt } = kept;
    let now = kept;
    await this.#records.change(releaseKey(address), readRelease, (before) => {
      const commit = before?.value.commit;
      const isOurs = commit === undefined || commit === value.commit;
      now = isOurs || known?.commit === commit ? kept : (before ?? kept);
      if (now !== kept) return before;
      const optional = {
        commit: value.commit ?? null,
        moved: value.moved ?? null,
      };
      const at = confirmedAt.toISOString();
      return { ...value, ...optional, confirmedAt: at };
    });
    return now;
  }
}

function readRelease(body: unknown): Kept<ModuleRelease> {
  const { confirmedAt, ...value } = releaseShape.parse(body);
  return { confirmedAt, value };
}

/** What was seen first of releases' archives, one record a release. */
export class ModuleArchiveRecords {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** An archive that was seen, under any spelling, goes before a note that clients have to fetch the module themselves. */
  async read(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const own = await this.#records.read(archiveKey(address), readArchive);
    if (isArchive(own)) return own;
    const others = await this.#readOtherSpellings(address);
    return others.find(isArchive) ?? own ?? others[0];
  }

  /**
   * Puts what was fetched in the place of `first`, which was there before. What
   * another process saw first meanwhile stays, and is returned.
   */
  async keep<T extends ModuleArchive | ForeignRelease>(
    address: ModuleReleaseAddress,
    archive: T,
    first: ModuleArchive | ForeignRelease | undefined,
  ): Promise<T | ModuleArchive> {
    let now: T | ModuleArchive = archive;
    await this.#records.change(archiveKey(address), readArchive, (before) => {
      now = !isArchive(before) || isSame(before, first) ? archive : before;
      return now === archive ? writeArchive(archive) : before;
    });
    return now;
  }

  /** Notes other content that a release is offered with; false when that was known. */
  async noteOffered(
    { module, version }: ModuleReleaseAddress,
    offered: string,
  ): Promise<boolean> {
    const key = [...moduleKey(module), "offered", version];
    let isNew = true;
    await this.#records.change(key, readOffered, (before) => {
      isNew = before?.offered.includes(offered) !== true;
      const known = before?.offered ?? [];
      return isNew
        ? { offered: [...known, offered].slice(-mostOffered) }
        : before;
    });
    return isNew;
  }

  /** Every module of which something is recorded, by name. */
  async listModules(): Promise<readonly ModuleAddress[]> {
    let found: readonly RecordKey[] = [["modules"]];
    for (let part = 0; part < 4; part++) found = await this.#below(found);
    return found.flatMap(
      ([, hostname = "", namespace = "", name = "", system = ""]) =>
        // None for a folder that others made there.
        ifAddress(() => [moduleAddress(hostname, namespace, name, system)]) ??
        [],
    );
  }

  /** The versions of which something is recorded, in no order. */
  async listVersions(module: ModuleAddress): Promise<readonly Version[]> {
    const keys = [moduleKey(module), ...(await this.#findSpellings(module))];
    const names = await Promise.all(
      keys.map((key) => this.#records.list([...key, "archives"])),
    );
    return [...new Set(names.flat())].filter(isVersion);
  }

  /** What was seen first in another case of letters counts, too: earlier versions of the mirror kept names as they were asked for. */
  async #readOtherSpellings({
    module,
    version,
  }: ModuleReleaseAddress): Promise<
    readonly (ModuleArchive | ForeignRelease)[]
  > {
    const keys = await this.#findSpellings(module);
    const read = keys.map((key) =>
      this.#records.read([...key, "archives", version], readArchive),
    );
    return (await Promise.all(read)).filter((one) => one !== undefined);
  }

  /** The other keys of a module, the same ones in the same order each time. */
  async #findSpellings(module: ModuleAddress): Promise<readonly RecordKey[]> {
    const own = moduleKey(module);
    let found: readonly RecordKey[] = [own.slice(0, 2)];
    for (const part of own.slice(2)) {
      const below = await this.#below(found);
      found = below.filter((key) => key.at(-1)?.toLowerCase() === part);
    }
    return found.filter((key) => key.join("/") !== own.join("/"));
  }

  /** What is directly below each of `keys`, by name. */
  async #below(keys: readonly RecordKey[]): Promise<readonly RecordKey[]> {
    const below = keys.map(async (key) => {
      const names = await this.#records.folders(key);
      return names.toSorted().map((name) => [...key, name]);
    });
    return (await Promise.all(below)).flat();
  }
}

function readArchive(body: unknown): ModuleArchive | ForeignRelease {
  return archiveShape.parse(body);
}

function readOffered(body: unknown): z.infer<typeof offeredShape> {
  return offeredShape.parse(body);
}

function writeArchive(archive: ModuleArchive | ForeignRelease) {
  return isArchive(archive)
    ? { ...archive, commit: archive.commit ?? null }
    : archive;
}

function isSame(
  archive: ModuleArchive,
  first: ModuleArchive | ForeignRelease | undefined,
): boolean {
  return (
    isArchive(first) &&
    first.sha256 === archive.sha256 &&
    first.commit === archive.commit
  );
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
