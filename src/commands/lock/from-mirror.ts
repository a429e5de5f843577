import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { compareVersions, isVersion } from "../../address/version.ts";
import {
  MirrorWantsToken,
  NotFound,
  OriginAnswerUnusable,
  OriginRejectsCredentials,
} from "../../errors/index.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import {
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import type { LockableRelease, LockSource } from "./source.ts";

const index = z.object({ versions: z.record(z.string(), z.unknown()) });

const archive = z.object({ url: z.string(), hashes: z.array(z.string()) });

/** `archives` by OS_ARCH. */
const document = z.object({ archives: z.record(z.string(), archive) });

/** How often a mirror that has just got an archive is asked for its h1; it answers within about a second each time. */
const attempts = 300;

/** A running mirror at `base`, the folder of its network mirror protocol; its word is believed as clients believe it. */
export function lockFromMirror(
  http: Pick<HttpClient, "fetchJson" | "openArchive">,
  base: URL,
  signal: AbortSignal,
): LockSource {
  const ask = async <T>(path: string, shape: z.ZodType<T>): Promise<T> => {
    const asked = http.fetchJson(new URL(path, base), signal);
    const { url, value } = await asked.catch((error: unknown) => {
      throw error instanceof OriginRejectsCredentials
        ? new MirrorWantsToken(base, { cause: error })
        : error;
    });
    const parsed = shape.safeParse(value);
    if (parsed.success) return parsed.data;
    const reason = "it is not a document of the network mirror protocol";
    throw new OriginAnswerUnusable(url.href, reason, { cause: parsed.error });
  };
  return {
    listVersions: async (provider) => {
      const path = `${formatProviderAddress(provider)}/index.json`;
      const { versions } = await ask(path, index);
      return Object.keys(versions)
        .filter(isVersion)
        .toSorted((a, b) => compareVersions(b, a));
    },
    findRelease: async (address) => {
      const path = `${formatProviderAddress(address.provider)}/${address.version}.json`;
      const askAgain = async () => (await ask(path, document)).archives;
      const from = new URL(path, base);
      const read = (url: string) =>
        drain(http, URL.parse(url, from.href) ?? from, signal);
      return asRelease(address, await askAgain(), askAgain, read);
    },
  };
}

type Archives = z.infer<typeof document>["archives"];

function asRelease(
  address: ReleaseAddress,
  archives: Archives,
  ask: () => Promise<Archives>,
  read: (url: string) => Promise<void>,
): LockableRelease {
  const all = Object.values(archives).flatMap(({ hashes }) => hashes);
  return {
    archiveHashes: all.filter((hash) => hash.startsWith("zh:")),
    platforms: Object.keys(archives).map(parsePlatform),
    findPackageHash: async (platform) => {
      const found = archiveOf(address, archives, platform);
      const known = packageHashIn(found.hashes);
      if (known !== undefined) return known;
      // The mirror fetches and hashes what somebody reads.
      await read(found.url);
      for (let attempt = 0; attempt < attempts; attempt++) {
        const { hashes } = archiveOf(address, await ask(), platform);
        const computed = packageHashIn(hashes);
        if (computed !== undefined) return computed;
      }
      return undefined;
    },
  };
}

function archiveOf(
  address: ReleaseAddress,
  archives: Archives,
  platform: Platform,
): z.infer<typeof archive> {
  const name = formatPlatform(platform);
  const found = archives[name];
  if (found === undefined)
    throw new NotFound(`${formatRelease(address)} for ${name}`);
  return found;
}

function packageHashIn(hashes: readonly string[]): PackageHash | undefined {
  const found = hashes.find((hash) => hash.startsWith("h1:"));
  return found === undefined ? undefined : parsePackageHash(found);
}

async function drain(
  http: Pick<HttpClient, "openArchive">,
  url: URL,
  signal: AbortSignal,
): Promise<void> {
  const { body } = await http.openArchive(url, signal);
  await pipeline(body, new Writable({ write: (_, __, next) => next() }));
}
