import pLimit from "p-limit";
import type { Hostname } from "../../address/hostname.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion } from "../../address/version.ts";
import { ifAddress } from "../../errors/index.ts";
import type { OriginFolder } from "./origin-folder.ts";
import { readNamespaceKeys } from "./namespace-keys.ts";
import { readReleaseFolder, type ReadingParts } from "./release-folder.ts";

/** Result of looking through a folder. */
export interface FolderSurvey {
  readonly releases: number;
  /**
   * Folders that look like a release and are unfit, by their operators' names,
   * with the reason.
   */
  readonly unfit: readonly {
    readonly path: string;
    readonly reason: string;
  }[];
  /** False when the time was over before. */
  readonly isWhole: boolean;
}

/** Folders that are read at once. */
const atOnce = 16;

/** Looks at every release of every provider, as a request for it would before its signature is checked. Throws what clients get where the folder or a namespace's keys cannot be read. */
export async function surveyFolder(
  parts: ReadingParts,
  hostname: Hostname,
  signal: AbortSignal,
): Promise<FolderSurvey> {
  const { folder } = parts;
  const limit = pLimit(atOnce);
  let releases = 0;
  const unfit: FolderSurvey["unfit"][number][] = [];
  for (const provider of await listProviders(parts, hostname)) {
    const place = [provider.namespace, provider.type];
    const names = (await folder.list(place)) ?? [];
    const versions = names.map(({ name }) => name).filter(isVersion);
    await limit.map(versions, async (version) => {
      if (signal.aborted) return;
      const at = [...place, version];
      const read = await readReleaseFolder(parts, at, provider, version);
      if (read === undefined) return;
      if (!("unfit" in read)) releases++;
      else unfit.push({ path: folder.show(at), reason: read.unfit });
    });
  }
  return { releases, unfit, isWhole: !signal.aborted };
}

async function listProviders(
  { folder, limits }: ReadingParts,
  hostname: Hostname,
): Promise<readonly ProviderAddress[]> {
  const providers: ProviderAddress[] = [];
  for (const namespace of await listNames(folder, [])) {
    if (namespace === "modules") continue;
    const types = await listNames(folder, [namespace]);
    if (types.includes("keys"))
      await readNamespaceKeys(folder, namespace, limits);
    const others = types.filter((type) => type !== "keys");
    providers.push(
      ...others.flatMap((type) => addressOf(hostname, namespace, type)),
    );
  }
  return providers;
}

async function listNames(
  folder: OriginFolder,
  parts: readonly string[],
): Promise<readonly string[]> {
  const entries = (await folder.list(parts)) ?? [];
  return entries.map(({ name }) => name);
}

/** Returns none for a name that no client can request. */
function addressOf(
  ...names: Parameters<typeof providerAddress>
): readonly ProviderAddress[] {
  return ifAddress(() => [providerAddress(...names)]) ?? [];
}
