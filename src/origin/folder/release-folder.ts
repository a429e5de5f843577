import { z } from "zod";
import {
  formatArchiveName,
  formatChecksumsName,
  parseArchiveName,
} from "../../address/archive-name.ts";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { OriginAnswerUnusable } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { OriginFolder } from "./origin-folder.ts";

/** What a folder says of a release, not yet believed. */
export interface FolderRelease {
  readonly packages: ReadonlyMap<string, FolderPackage>;
  readonly protocols: readonly string[];
  /** The file names of SHA256SUMS and its signature. */
  readonly checksums: string;
  readonly signature: string | undefined;
}

interface FolderPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly sha256: Sha256;
}

/** Why a folder is no release. */
interface Unfit {
  readonly unfit: string;
}

const manifestBytes = 64 * 1024;

const manifestShape = z.object({
  metadata: z.object({ protocol_versions: z.array(z.string()).min(1) }),
});

/** What clients take for said where nothing is. */
const defaultProtocols = ["5.0"];

interface ReadingParts {
  readonly folder: OriginFolder;
  readonly limits: Pick<OriginLimits, "checksums">;
  /** Whether a release without a signature is none. */
  readonly signed: boolean;
}

/**
 * Reads what goreleaser makes of a release: complete only when each archive that its SHA256SUMS lists is there. Undefined where there is
 * no such folder. Throws OriginUnreachable.
 */
export async function readReleaseFolder(
  { folder, limits, signed }: ReadingParts,
  parts: readonly string[],
  provider: ProviderAddress,
  version: Version,
): Promise<FolderRelease | Unfit | undefined> {
  const checksums = formatChecksumsName(provider, version);
  const signature = `${checksums}.sig`;
  try {
    const entries = await folder.list(parts);
    if (entries === undefined) return undefined;
    const names = new Map(entries.map((entry) => [entry.name, entry]));
    const document = await folder.read([...parts, checksums], limits.checksums);
    if (document === undefined) return { unfit: `it has no ${checksums}` };
    if (signed && !names.has(signature))
      return { unfit: `it has no ${signature}` };
    const packages = readPackages(document, provider, version);
    if (packages.size === 0) return { unfit: `${checksums} lists no archive` };
    const archives = packages.values().map(({ filename }) => filename);
    const listed = names.has(signature) ? [signature] : [];
    for (const name of [...archives, ...listed]) {
      const entry = names.get(name);
      const isThere =
        entry?.kind === "file" ||
        (entry !== undefined &&
          (await folder.measure([...parts, name])) !== undefined);
      if (!isThere) return { unfit: `it has no ${name} yet` };
    }
    return {
      packages,
      protocols: await readProtocols(folder, parts, names, provider, version),
      checksums,
      signature: names.has(signature) ? signature : undefined,
    };
  } catch (error) {
    if (!(error instanceof OriginAnswerUnusable)) throw error;
    return { unfit: `${error.url}: ${error.reason}` };
  }
}

/** As its lines look; verification reads them strictly. */
function readPackages(
  document: Uint8Array,
  provider: ProviderAddress,
  version: Version,
): ReadonlyMap<string, FolderPackage> {
  const packages = new Map<string, FolderPackage>();
  const lines = Buffer.from(document).toString("latin1").split("\n");
  for (const line of lines) {
    const [, digest, filename] =
      /^([0-9a-fA-F]{64})\s+(\S+)\s*$/.exec(line) ?? [];
    const platform = filename && platformOf(filename, provider, version);
    if (!digest || !filename || !platform) continue;
    const sha256 = digest.toLowerCase() as Sha256;
    packages.set(formatPlatform(platform), { platform, filename, sha256 });
  }
  return packages;
}

function platformOf(
  filename: string,
  provider: ProviderAddress,
  version: Version,
): Platform | undefined {
  try {
    const { platform } = parseArchiveName(provider, filename);
    const name = formatArchiveName(provider, version, platform);
    return name === filename ? platform : undefined;
  } catch {
    return undefined;
  }
}

async function readProtocols(
  folder: OriginFolder,
  parts: readonly string[],
  names: ReadonlyMap<string, unknown>,
  { type }: ProviderAddress,
  version: Version,
): Promise<readonly string[]> {
  const name = `terraform-provider-${type}_${version}_manifest.json`;
  if (!names.has(name)) return defaultProtocols;
  const bytes = await folder.read([...parts, name], manifestBytes);
  try {
    const text = Buffer.from(bytes ?? []).toString("utf8");
    return manifestShape.parse(JSON.parse(text)).metadata.protocol_versions;
  } catch (cause) {
    const shown = folder.nameOf([...parts, name]);
    throw new OriginAnswerUnusable(shown, "it is no manifest", { cause });
  }
}
