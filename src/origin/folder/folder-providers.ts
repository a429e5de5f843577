import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import * as z from "zod";
import {
  findArchivePlatform,
  formatArchiveName,
  formatChecksumsName,
} from "../../address/archive-name.ts";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, newestFirst, type Version } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import { checkCount } from "../registries/answer-shape.ts";
import type { ProviderOrigin } from "../registries/provider-origin.ts";
import type { OriginVersion } from "../registries/registry-answers.ts";
import type { OriginFolder } from "./origin-folder.ts";

/** Release as described by a folder, not verified yet. */
interface FolderRelease {
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

const manifestBytes = 64 * 1024;

const manifestShape = z.object({
  metadata: z.object({
    protocol_versions: z.array(z.string().max(16)).min(1).max(16),
  }),
});

/** Protocols that clients assume where none are given. */
const defaultProtocols = ["5.0"];

/** Folders that are read at once. */
const atOnce = 16;

/** Providers whose lists are remembered. */
const mostLists = 1_000;

/**
 * Providers in a folder: NAMESPACE/TYPE/VERSION/ with goreleaser's files, NAMESPACE/keys/*.asc with the permitted
 * signers. They are verified like a registry's answers. `onUnfit` hears of a folder that looks like a release and is
 * unfit, such as for want of a signature where they have to be `signed`.
 */
export function makeFolderProviders(
  folder: OriginFolder,
  limits: OriginLimits,
  signed: boolean,
  onUnfit: (path: string, reason: string) => void,
): ProviderOrigin {
  /** Complete releases, which are not read again for a list. */
  const complete = new LRUCache<string, ReadonlyMap<Version, OriginVersion>>({
    max: mostLists,
  });

  /**
   * Reads what goreleaser makes of a release: complete only when each archive that its SHA256SUMS lists is there, and
   * the manifest where it does. Undefined where there is no such folder, and for an unfit one, which is reported.
   */
  const readRelease = async (
    provider: ProviderAddress,
    version: Version,
  ): Promise<FolderRelease | undefined> => {
    const parts = [provider.namespace, provider.type, version];
    const unfit = (reason: string): FolderRelease | undefined => {
      onUnfit(folder.show(parts), reason);
      return undefined;
    };
    const checksums = formatChecksumsName(provider, version);
    const signature = `${checksums}.sig`;
    const manifest = `terraform-provider-${provider.type}_${version}_manifest.json`;
    try {
      const entries = await folder.list(parts);
      if (entries === undefined) return undefined;
      const names = new Map(entries.map((entry) => [entry.name, entry]));
      const place = [...parts, checksums];
      const document = await folder.read(place, limits.checksums);
      if (document === undefined) return unfit(`it has no ${checksums}`);
      if (signed && !names.has(signature))
        return unfit(`it has no ${signature}`);
      const lines = readLines(document);
      const packages = readPackages(lines, provider, version);
      if (packages.size === 0) return unfit(`${checksums} lists no archive`);
      for (const name of [
        ...packages.values().map(({ filename }) => filename),
        ...(lines.has(manifest) ? [manifest] : []),
        ...(names.has(signature) ? [signature] : []),
      ]) {
        const entry = names.get(name);
        const isThere =
          entry?.kind === "file" ||
          (entry !== undefined &&
            (await folder.measure([...parts, name])) !== undefined);
        // goreleaser signs for a manifest that it does not put into its dist.
        const hint = name.endsWith(".json")
          ? ", which is terraform-registry-manifest.json of the provider's repository: copy it there under this name"
          : "";
        if (!isThere) return unfit(`it has no ${name} yet${hint}`);
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
      return unfit(`${error.url}: ${error.reason}`);
    }
  };

  return {
    async listVersions(provider, signal) {
      const name = formatProviderAddress(provider);
      const parts = [provider.namespace, provider.type];
      const entries = await folder.list(parts);
      if (entries === undefined) throw failure("not-found", name);
      const url = folder.urlOf(parts);
      const named = newestFirst(
        entries.map((one) => one.name).filter(isVersion),
      );
      checkCount(url, named.length, limits.versions, "versions");
      const found = new Map(complete.get(name));
      const unknown = named.filter((version) => !found.has(version));
      await pLimit(atOnce).map(unknown, async (version) => {
        if (signal.aborted) return;
        const release = await readRelease(provider, version);
        if (release === undefined) return;
        const { protocols, packages } = release;
        const platforms = [...packages.values()].map((one) => one.platform);
        found.set(version, { version, protocols, platforms });
      });
      const versions = named.flatMap((version) => found.get(version) ?? []);
      complete.set(name, new Map(versions.map((one) => [one.version, one])));
      const late = "it has many new releases to read";
      if (signal.aborted) throw failure("origin-timeout", url.href, late);
      return { versions, warnings: [] };
    },

    async findPackage(provider, version, platforms) {
      const { namespace, type } = provider;
      const release = await readRelease(provider, version);
      const name = `${formatProviderAddress(provider)} ${version}`;
      if (release === undefined) throw failure("not-found", name);
      const { checksums, signature, protocols, packages } = release;
      const names = platforms?.map(formatPlatform) ?? [...packages.keys()];
      const [found] = names.flatMap((one) => packages.get(one) ?? []);
      if (found === undefined)
        throw failure("not-found", `${name} for ${names.join()}`);
      const urlOf = (file: string) =>
        folder.urlOf([namespace, type, version, file]);
      const signingKeys = await readNamespaceKeys(folder, namespace, limits);
      const places = packages
        .values()
        .map((one) => [one.sha256, urlOf(one.filename)] as const);
      return {
        filename: found.filename,
        downloadUrl: urlOf(found.filename),
        shasum: found.sha256,
        places: new Map(places),
        checksums: {
          url: urlOf(checksums),
          signatureUrl: signature === undefined ? undefined : urlOf(signature),
        },
        signingKeys,
        keyLabels: signingKeys.map(() => ({})),
        protocols,
      };
    },

    async fetchChecksums({ checksums: { url, signatureUrl } }) {
      const read = async (from: URL, most: number) => {
        const bytes = await folder.read(folder.partsOf(from), most);
        if (bytes === undefined) throw failure("not-found", from.href);
        return bytes;
      };
      return {
        document: await read(url, limits.checksums),
        signature: signatureUrl && (await read(signatureUrl, limits.signature)),
      };
    },

    openArchive: (url, signal) => folder.archive(url, limits.archive, signal),
  };
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

async function readProtocols(
  folder: OriginFolder,
  parts: readonly string[],
): Promise<readonly string[]> {
  const bytes = await folder.read(parts, manifestBytes);
  try {
    const text = Buffer.from(bytes ?? []).toString("utf8");
    return manifestShape.parse(JSON.parse(text)).metadata.protocol_versions;
  } catch (cause) {
    const shown = folder.urlOf(parts).href;
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
        folder.urlOf([namespace, "keys"]).href,
        `its keys have more than ${limits.keys} bytes`,
      );
    const text = Buffer.from(bytes).toString("utf8");
    keys.push(publicKeyIn(text, folder.urlOf(parts).href));
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
