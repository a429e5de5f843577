import type { PackageHash } from "../../src/address/hash.ts";
import { parsePlatform, type Platform } from "../../src/address/platform.ts";
import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { LearntDigests } from "../../src/mirror/releases/learnt-digests.ts";
import type { ReleaseAddress } from "../../src/mirror/releases/release.ts";
import type { NetworkMirror } from "../../src/origin/registries/network-mirror.ts";
import type { RecordKey } from "../../src/store/layout.ts";
import type { ArchiveThreads } from "../../src/verification/archives/threads.ts";
import { prepareHashes } from "./hashed-archives.ts";

export const linux = parsePlatform("linux_amd64");

/** `NAMESPACE` at `HOSTNAME` */
export function releaseOf(
  hostname = "registry.example.com",
  namespace = "acme",
): ReleaseAddress {
  const provider = providerAddress(hostname, namespace, "widget");
  return { provider, version: parseVersion("1.0.0") };
}

export const release = releaseOf();

export const recordKey: RecordKey = [
  ...["providers", "registry.example.com", "acme", "widget"],
  ...["learnt-digests", "1.0.0", "linux_amd64"],
];

type Asked = readonly [ReleaseAddress, Platform, AbortSignal];

/** A network mirror that sends one archive, from the host given, as pieces come. */
export class ArchiveOrigin implements Pick<NetworkMirror, "openUnnamed"> {
  readonly asked: Asked[] = [];
  /** Pieces that a reader took. */
  taken = 0;
  readonly #pieces: () => AsyncIterable<Uint8Array>;
  readonly #told: readonly string[];
  readonly #host: string;

  constructor(
    pieces: () => AsyncIterable<Uint8Array>,
    told: readonly string[],
    host = "files.example.com",
  ) {
    this.#pieces = pieces;
    this.#told = told;
    this.#host = host;
  }

  openUnnamed: NetworkMirror["openUnnamed"] = (
    provider,
    version,
    platform,
    signal,
  ) => {
    this.asked.push([{ provider, version }, platform, signal]);
    return Promise.resolve({
      url: new URL(`https://${this.#host}/archive.zip`),
      contentType: "application/zip",
      size: 1_234,
      packageHashes: this.#told as readonly PackageHash[],
      body: this.#body(),
    });
  };

  async *#body() {
    for await (const piece of this.#pieces()) {
      this.taken++;
      yield piece;
    }
  }
}

/** An origin that sends these bytes at once, in two pieces, and tells these h1s of them. */
export function sending(bytes: Uint8Array, ...told: readonly string[]) {
  const middle = Math.floor(bytes.length / 2);
  return new ArchiveOrigin(async function* () {
    yield bytes.subarray(0, middle);
    await Promise.resolve();
    yield bytes.subarray(middle);
  }, told);
}

/** An origin whose archive comes piece by piece, when a test says so. */
export function steered(host?: string, ...told: readonly string[]) {
  const pieces: Uint8Array[] = [];
  let isEnded = false;
  let changed = Promise.withResolvers<void>();
  const change = () => {
    const { resolve } = changed;
    changed = Promise.withResolvers();
    resolve();
  };
  const origin = new ArchiveOrigin(
    async function* () {
      for (;;) {
        const { promise } = changed;
        const piece = pieces.shift();
        if (piece !== undefined) yield piece;
        else if (isEnded) return;
        else await promise;
      }
    },
    told,
    host,
  );
  const send = (piece: Uint8Array) => {
    pieces.push(piece);
    change();
  };
  const end = () => {
    isEnded = true;
    change();
  };
  return { origin, send, end };
}

/** Prepares digests in a store of its own, with these bounds on downloads. */
export async function prepareLearning(
  threads: ArchiveThreads,
  limits: Partial<
    ConstructorParameters<typeof LearntDigests>[0]["limits"]
  > = {},
  hasRoom = true,
) {
  const scene = await prepareHashes(threads);
  const { blobs, records, hashes } = scene;
  const reserved: (number | undefined)[] = [];
  const learning = new LearntDigests({
    ...{ blobs, records, hashes },
    limits: { fills: 4, fillsPerOrigin: 4, waiters: 10, ...limits },
    reserve: (size) => {
      reserved.push(size);
      const grow = () => Promise.resolve(true);
      const room = { size: 0, grow, release: () => undefined };
      return Promise.resolve(hasRoom ? room : undefined);
    },
  });
  /** The same for every release unless a test says otherwise. */
  const learn = (
    origin: Pick<NetworkMirror, "openUnnamed">,
    first: readonly string[],
    address = release,
    platform = linux,
  ) =>
    learning.learn(address, platform, origin, first as readonly PackageHash[]);
  return { ...scene, learning, learn, reserved };
}
