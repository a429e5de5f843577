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
import type { RecordKey } from "../../store/records/record-tables.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Candidate } from "../../trust/candidates.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import {
  formatModuleRelease,
  makeOffer,
  unknownModule,
  type ModuleRelease,
  type ModuleReleaseAddress,
  type ModuleTrust,
} from "./release.ts";

const text = z.string();
const optionalText = text.nullable().transform((value) => value ?? undefined);

const placeShape = { location: text, base: text };

const releaseShape = z.object({
  confirmedAt: z.iso.datetime().transform((written) => new Date(written)),
  ...placeShape,
  commit: optionalText,
});

const archiveShape = z.object({
  sha256: text.transform(parseSha256),
  format: z.enum(archiveFormats),
  subdirectory: text,
  commit: optionalText,
});

const digest = text.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

const offerShape = z
  .object({
    digest,
    commit: digest.optional(),
    place: z.object(placeShape).optional(),
    archive: archiveShape.optional(),
    foreign: text.optional(),
    noted: z.enum(["approved", "other-content"]).optional(),
  })
  .transform(({ digest, ...offered }) => makeOffer(digest, offered));

const trustShape = z.object({
  pinned: z
    .object({
      digest,
      at: z.iso.datetime().transform((written) => new Date(written)),
    })
    .optional(),
  evidence: z.array(offerShape),
});

/** Names of the records that list a module's versions. */
export const moduleVersionNaming = {
  format: formatModuleAddress,
  record: (module: ModuleAddress): RecordKey => [
    "module_lists",
    ...partsOf(module),
  ],
};

/** Records of releases, one for each. */
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

  key(address: ModuleReleaseAddress): RecordKey {
    return releaseKey(address);
  }

  weigh({ location, base }: ModuleRelease): number {
    return 512 + location.length + base.length;
  }

  async read(
    address: ModuleReleaseAddress,
  ): Promise<Kept<ModuleRelease> | undefined> {
    return this.#records.read(releaseKey(address), readRelease);
  }

  async write(
    address: ModuleReleaseAddress,
    kept: Kept<ModuleRelease>,
  ): Promise<Kept<ModuleRelease> | undefined> {
    const { revision: before, commit = null, ...place } = kept.value;
    const confirmedAt = kept.confirmedAt.toISOString();
    const body = { ...place, commit, confirmedAt };
    const revision = await this.#records.swap(
      ...([releaseKey(address), before, body] as const),
    );
    return revision === undefined
      ? undefined
      : { ...kept, value: { ...kept.value, revision } };
  }
}

/** Lists the candidates that the record of a release has, also those that the bounds of `trust list` left out. */
export async function listOffered(
  records: RecordStore,
  { provider, version }: ReleaseAddress,
): Promise<readonly Omit<Candidate, "since">[]> {
  const { hostname, namespace, type } = provider;
  const release = await records.read(
    ["module_pins", hostname, namespace, ...type.split("/"), version],
    readTrust,
  );
  return (release?.contents ?? []).flatMap(({ digest, noted: reason }) =>
    reason === "other-content"
      ? [{ version, sha256sums: digest, reason, fingerprint: undefined }]
      : [],
  );
}

function readRelease(body: unknown, revision: number): Kept<ModuleRelease> {
  const { confirmedAt, ...value } = releaseShape.parse(body);
  return { confirmedAt, value: { ...value, revision } };
}

/** Contents of releases: the pinned one and what was offered beside it, one record a release. */
export class ModuleTrustRecords {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** Undefined while nothing was offered. */
  async read(address: ModuleReleaseAddress): Promise<ModuleTrust | undefined> {
    return this.#records.read(trustKey(address), readTrust);
  }

  transact<T>(work: () => Promise<T>): Promise<T> {
    return this.#records.transact(work);
  }

  /** Changes a release; no change of any process is lost. Durable on return. */
  async change(
    address: ModuleReleaseAddress,
    change: (before: ModuleTrust) => ModuleTrust,
  ): Promise<void> {
    await this.#records.change(trustKey(address), readTrust, (before) => {
      const after = change(before ?? unknownModule);
      return after === before ? before : writeTrust(after);
    });
  }

  /** Every module of which something is recorded, by name. */
  async listModules(): Promise<readonly ModuleAddress[]> {
    const tables = ["module_lists", "module_releases", "module_pins"] as const;
    const listed = tables.map((table) => this.#records.list([table], 4));
    const found = (await Promise.all(listed)).flat();
    const byName = new Map(found.map((parts) => [parts.join("/"), parts]));
    return [...byName.keys()].toSorted().flatMap((text) => {
      const [hostname = "", namespace = "", name = "", system = ""] =
        byName.get(text) ?? [];
      // A row of another program has no address.
      return (
        ifAddress(() => [moduleAddress(hostname, namespace, name, system)]) ??
        []
      );
    });
  }

  /** The versions of which something is recorded, in no order. */
  async listVersions(module: ModuleAddress): Promise<readonly Version[]> {
    const key = ["module_pins", ...partsOf(module)] as const;
    const found = await this.#records.list(key);
    return found.flat().filter(isVersion);
  }
}

function readTrust(body: unknown): ModuleTrust {
  const { pinned, evidence } = trustShape.parse(body);
  return { pinned, contents: evidence };
}

function writeTrust({ pinned, contents }: ModuleTrust) {
  return {
    pinned: pinned && { ...pinned, at: pinned.at.toISOString() },
    evidence: contents.map(({ archive, ...offer }) => ({
      ...offer,
      archive: archive && { ...archive, commit: archive.commit ?? null },
    })),
  };
}

function releaseKey({ module, version }: ModuleReleaseAddress): RecordKey {
  return ["module_releases", ...partsOf(module), version];
}

function trustKey({ module, version }: ModuleReleaseAddress): RecordKey {
  return ["module_pins", ...partsOf(module), version];
}

function partsOf({ hostname, namespace, name, system }: ModuleAddress) {
  return [hostname, namespace, name, system] as const;
}
