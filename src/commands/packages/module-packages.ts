import pLimit from "p-limit";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { isFailure, ProvenderError } from "../../errors/index.ts";
import type { ModuleMirror } from "../../mirror/modules/module-mirror.ts";
import {
  formatModuleRelease,
  isArchive,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { NotCarried } from "../inputs/configuration.ts";
import { chooseVersions, type VersionChoice } from "./version-choice.ts";

/** The mirror of modules, as far as commands need it. */
export interface ModuleSupply {
  readonly modules: ModuleMirror;
  readonly blobs: BlobStore;
}

/** A module that is asked for; `where` is the SPEC or FILE:LINE. */
export interface ModuleRequest {
  readonly module: ModuleAddress;
  readonly choice: VersionChoice;
  readonly where: string;
}

/** A module that is in the store. */
export interface GatheredModule {
  readonly address: ModuleReleaseAddress;
  readonly archive: ModuleArchive;
  /** Bytes. */
  readonly size: number;
  readonly outcome: "stored" | "fetched";
  /** SPECs and FILE:LINEs that requested it. */
  readonly asked: readonly string[];
}

/** Modules that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 16;

/** A line for standard error. */
export function formatNotCarried({
  where,
  source,
  because,
}: NotCarried): string {
  return `${where}: "${source}" is left to the clients: ${because}.\n`;
}

/** Brings modules into the store, each once; returns them by name, and those that clients have to fetch. */
export async function gatherModules(
  requests: readonly ModuleRequest[],
  { modules, blobs }: ModuleSupply,
  signal: AbortSignal,
) {
  const asked = new Map<string, Set<string>>();
  const gathered = new Map<string, Omit<GatheredModule, "asked">>();
  const notCarried: NotCarried[] = [];
  const problems: ProvenderError[] = [];
  const fetch = async (address: ModuleReleaseAddress, where: string) => {
    signal.throwIfAborted();
    const name = formatModuleRelease(address);
    const before = asked.get(name);
    asked.set(name, (before ?? new Set()).add(where));
    if (before !== undefined) return;
    const stored = await modules.find(address);
    const archive = await modules.ensureArchive(address, signal);
    if (!isArchive(archive)) {
      const because = `only clients can fetch it (${archive.foreign})`;
      notCarried.push({ source: name, where, because });
      return;
    }
    const outcome = stored === undefined ? "fetched" : "stored";
    const size = (await blobs.size(archive.sha256)) ?? 0;
    gathered.set(name, { address, archive, outcome, size });
  };
  await pLimit(atOnce).map(requests, async ({ module, choice, where }) => {
    const name = formatModuleAddress(module);
    try {
      const list = async () =>
        (await modules.listVersions(module)).value.versions;
      for (const version of await chooseVersions(name, choice, where, list))
        await fetch({ module, version }, where);
    } catch (error) {
      if (isFailure(error, "origin-not-served")) {
        const because = `${error.hostname} is none of "origins"`;
        notCarried.push({ source: name, where, because });
      } else if (error instanceof ProvenderError) problems.push(error);
      else throw error;
    }
  });
  const sorted = [...gathered].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    modules: sorted.map(([name, one]): GatheredModule => {
      return { ...one, asked: [...(asked.get(name) ?? [])] };
    }),
    notCarried,
    problems,
  };
}
