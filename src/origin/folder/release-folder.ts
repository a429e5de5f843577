import { z } from "zod";
import {
  findArchivePlatform,
  formatArchiveName,
  formatChecksumsName,
} from "../../address/archive-name.ts";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { OriginFolder } from "./origin-folder.ts";

/** Release as described by a folder, not verified yet. */
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

/** Reason why a folder is no release. */
interface Unfit {
  readonly unfit: string;
}

const manifestBytes = 64 * 1024;

const manifestShape = z.object({
  metadata: z.object({ protocol_versions: z.array(z.string()).min(1) }),
});

/** Protocols that clients assume where none are given. */
const defaultProtocols = ["5.0"];

interface ReadingParts {
  readonly folder: OriginFolder;
  readonly limits: OriginLimits;
  /** True when a release needs a signature. */
  readonly signed: boolean;
}

/**
 * Reads what goreleaser makes of a release: complete only when each archive that its SHA256SUMS lists is there, and
 * the manifest where it does. Undefined where there is no such folder.
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
    const lines = readLines(document);
    const packages = readPackages(lines, provider, version);
    if (packages.size === 0) return { unfit: `${checksums} lists no archive` };
    const archives = packages.values().map(({ filename }) => filename);
    const manifest = `terraform-provider-${provider.type}_${version}_manifest.json`;
    const manifests = lines.has(manifest) ? [manifest] : [];
    const signatures = names.has(signature) ? [signature] : [];
    for (const name of [...archives, ...manifests, ...signatures]) {
      const entry = names.get(name);
      const isThere =
        entry?.kind === "file" ||
        (entry !== undefined &&
          (await folder.measure([...parts, name])) !== undefined);
      if (!isThere) return { unfit: `it has no ${name} yet${hintFor(name)}` };
    }
    return {
      packages,
      protocols: names.has(manifest)
        ? await readProtocols(folder, [...parts, manifest])
        : defaultProtocols,
      checksums,
      signature: names.has(signature) ? signature : undefined,
    };
  } catch (error) {
    if (!isFailure(error, "origin-answer")) throw error;
    return { unfit: `${error.url}: ${error.reason}` };
  }
}

/** Digests by file name, as its lines look; verification reads them strictly. */
function readLines(document: Uint8Array): ReadonlyMap<string, Sha256> {
  const text = Buffer.from(document).toString("latin1");
  const lines = text.matchAll(/^[^\S\n]*([0-9a-fA-F]{64})[^\S\n]+(\S+)/gm);
  return new Map(
    lines.map(([, digest = "", filename = ""]) => [
      filename,
      digest.toLowerCase() as Sha256,
    ]),
  );
}

function readPackages(
  lines: ReadonlyMap<string, Sha256>,
  provider: ProviderAddress,
  version: Version,
): ReadonlyMap<string, FolderPackage> {
  const packages = new Map<string, FolderPackage>();
  for (const [filename, sha256] of lines) {
    const platform = findArchivePlatform(provider, version, filename);
    if (platform === undefined) continue;
    const name = formatPlatform(platform);
    const usual = formatArchiveName(provider, version, platform);
    if (!packages.has(name) || filename === usual)
      packages.set(name, { platform, filename, sha256 });
  }
  return packages;
}

/** goreleaser signs for a manifest that it does not put into its dist. */
function hintFor(name: string): string {
  return name.endsWith(".json")
    ? ", which is terraform-registry-manifest.json of the provider's repository: copy it there under this name"
    : "";
}

async function readProtocols(
  folder: OriginFolder,
  parts: readonly string[],
): Promise<readonly string[]> {
  const bytes = await folder.read(parts, manifestBytes);
  try {
    const text = Buffer.from(bytes ?? []).toString("utf8");
    return manifestShape.parse(JSON.parse(text)).metadata.protocol_versions;
  } catch (cause) {
    const shown = folder.nameOf(parts);
    throw failure("origin-answer", shown, "it is no manifest", { cause });
  }
}

/**
 * Reads the keys that may sign releases of a namespace, ASCII-armored, in the order of their files' names. Clients
 * get them, so only the public key of each *.asc is returned.
 */
export async function readNamespaceKeys(
  folder: OriginFolder,
  namespace: string,
  limits: Pick<OriginLimits, "keys">,
): Promise<readonly string[]> {
  const entries = (await folder.list([namespace, "keys"])) ?? [];
  const names = entries.map(({ name }) => name);
  const keys: string[] = [];
  let size = 0;
  // One after the other: there may be any number.
  for (const name of names.filter((one) => one.endsWith(".asc")).toSorted()) {
    const parts = [namespace, "keys", name];
    const bytes = await folder.read(parts, limits.keys);
    if (bytes === undefined) continue;
    size += bytes.length;
    if (size > limits.keys)
      throw failure(
        "origin-answer",
        folder.nameOf([namespace, "keys"]),
        `its keys have more than ${limits.keys} bytes`,
      );
    const text = Buffer.from(bytes).toString("utf8");
    keys.push(publicKeyIn(text, folder.nameOf(parts)));
  }
  return keys;
}

const first = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const last = "-----END PGP PUBLIC KEY BLOCK-----";

function publicKeyIn(text: string, url: string): string {
  if (text.includes("BEGIN PGP PRIVATE KEY"))
    throw failure(
      "origin-answer",
      url,
      "it has a private key, so put the public one there instead",
    );
  // Never on from a first line to the end of the file: there may be as many of them as it has room for.
  const [, block = ""] = text.split(new RegExp(`^${first}`, "m"), 2);
  const end = block.search(new RegExp(`^${last}`, "m"));
  if (end < 0)
    throw failure("origin-answer", url, "it has no armored public key");
  return `${first}${block.slice(0, end)}${last}\n`;
}
