import * as z from "zod";
import { parseSha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  moduleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { archiveFormats } from "../../address/module-archive-name.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { ifAddress } from "../../errors/index.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import type { Candidate } from "../../trust/candidates.ts";
import type { MetadataRecords } from "../cache/metadata-cache.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import {
  formatModuleRelease,
  type ModuleRelease,
  type ModuleReleaseAddress,
  type ModuleTrust,
} from "./release.ts";

const text = z.string();
/** JSON leaves out what is undefined. */
const orAbsent = text.nullish().transform((value) => value ?? undefined);
const moment = z.iso.datetime().transform((written) => new Date(written));
const place = { location: text, base: text };

const releaseShape = z.object({
  confirmedAt: moment,
  ...place,
  commit: orAbsent,
});

const digest = text.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

const trustShape = z.object({
  pinned: z.object({ digest, at: moment }).optional(),
  evidence: z.array(
    z.object({
      digest,
      commit: digest.optional(),
      place: z.object(place).optional(),
      archive: z
        .object({
          sha256: text.transform(parseSha256),
          format: z.enum(archiveFormats),
          subdirectory: text,
          commit: orAbsent,
        })
        .optional(),
      foreign: text.optional(),
      noted: z.enum(["approved", "other-content"]).optional(),
    }),
  ),
});

/** Names of the records that list a module's versions. */
export const moduleVersionNaming = {
  format: formatModuleAddress,
  key: (module: ModuleAddress): RecordKey => [
    "module_lists",
    ...partsOf(module),
  ],
};

export function moduleReleaseRecords(
  records: RecordStore,
): MetadataRecords<ModuleReleaseAddress, ModuleRelease> {
  return {
    format: formatModuleRelease,
    key: releaseKey,
    weigh: ({ location, base }) => 512 + location.length + base.length,
    read: (address) =>
      records.read(releaseKey(address), (body, revision) => {
        const { confirmedAt, ...value } = releaseShape.parse(body);
        return { confirmedAt, value: { ...value, revision } };
      }),
    write: async (address, { confirmedAt, value }) => {
      const { revision: before, ...release } = value;
      const body = { ...release, confirmedAt };
      const revision = await records.swap(releaseKey(address), before, body);
      return revision === undefined
        ? undefined
        : { confirmedAt, value: { ...value, revision } };
    },
  };
}

/** Lists the candidates that the record of a release has, also those that the bounds of `trust list` left out. */
export async function listOffered(
  records: RecordStore,
  address: ReleaseAddress,
): Promise<readonly Omit<Candidate, "since">[]> {
  const { version } = address;
  const release = await records.read(pinKey(address), readModuleTrust);
  return (release?.contents ?? []).flatMap(({ digest, noted: reason }) =>
    reason === "other-content"
      ? [{ version, sha256sums: digest, reason, fingerprint: undefined }]
      : [],
  );
}

/** Every module of which something is recorded, by name. */
export async function listModules(
  records: RecordStore,
): Promise<readonly ModuleAddress[]> {
  const tables = ["module_lists", "module_releases", "module_pins"] as const;
  const listed = tables.map((table) => records.list([table], 4));
  const found = (await Promise.all(listed)).flat();
  const names = new Set(found.map((parts) => parts.join("/")));
  return [...names].toSorted().flatMap((path) => {
    const [hostname = "", namespace = "", name = "", system = ""] =
      path.split("/");
    // A row of another program has no address.
    return (
      ifAddress(() => [moduleAddress(hostname, namespace, name, system)]) ?? []
    );
  });
}

/** The versions of which something is recorded, in no order. */
export async function listModuleVersions(
  records: RecordStore,
  module: ModuleAddress,
): Promise<readonly Version[]> {
  const found = await records.list(["module_pins", ...partsOf(module)]);
  return found.flat().filter(isVersion);
}

/** The contents of a release: the pinned one and what was offered beside it. */
export function readModuleTrust(body: unknown): ModuleTrust {
  const { pinned, evidence } = trustShape.parse(body);
  return { pinned, contents: evidence };
}

function releaseKey({ module, version }: ModuleReleaseAddress): RecordKey {
  return ["module_releases", ...partsOf(module), version];
}

export function pinKey({ provider, version }: ReleaseAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["module_pins", hostname, namespace, ...type.split("/"), version];
}

function partsOf({ hostname, namespace, name, system }: ModuleAddress) {
  return [hostname, namespace, name, system] as const;
}
