import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority } from "../../fakes/authority.ts";
import { startCeph } from "../../fakes/ceph.ts";
import { fakeTimeOf } from "../../fakes/fake-time.ts";
import { scratch } from "../../running-mirror.ts";
import { env as bucketSecret, s3Of } from "../../scenes/replica-scene.ts";
import type { Registry } from "../world/registry.ts";
import { hostname, namespace, type Settings } from "../world/settings.ts";
import { RealKeys } from "./real-keys.ts";
import { RegistryServer } from "./registry-server.ts";

/** Made once for all sequences: keys, a certificate authority, and a bucket's service where one is needed. */
const shared = {
  keys: remembered(() => RealKeys.make()),
  authority: remembered(() => createAuthority()),
  ceph: remembered(() => startCeph()),
};

/** Surroundings of real processes: a registry over TLS, folders, a bucket, and a clock that a file sets. */
export interface Site {
  readonly keys: RealKeys;
  readonly folder: string;
  /** File that sets the wall clock of every process. */
  readonly clockFile: string;
  /** Environment of daemons and commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes the configuration of a process with this storage directory. */
  configure(
    directory: string,
    settings: Settings,
  ): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openSite(
  registry: Registry,
  place: "directory" | "bucket",
): Promise<Site> {
  const folder = scratch("model");
  const keys = await shared.keys();
  const authority = await shared.authority();
  const server = await RegistryServer.start(registry, keys, authority);
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, authority.caPem);
  const bucket =
    place === "bucket" ? await (await shared.ceph()).makeBucket() : undefined;
  const storage = bucket === undefined ? {} : { s3: s3Of(bucket) };
  const clockFile = join(folder, "clock");
  const preload = new URL("dying.ts", import.meta.url).href;
  return {
    ...{ keys, folder, clockFile },
    env: {
      ...bucketSecret,
      ...(await fakeTimeOf(clockFile)),
      NODE_OPTIONS: `--import ${preload}`,
    },
    configure: (directory, settings) => ({
      listen: { port: 0, tls: "off" },
      storage: { directory, ...storage },
      ...configurationOf(settings, keys, { url: server.url, ca }),
    }),
    close: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Writes settings as a configuration has them. */
function configurationOf(
  { offline, signatures, profile, newKeys, pins, times }: Settings,
  keys: RealKeys,
  origin: Readonly<Record<string, unknown>>,
) {
  const { versions } = times.freshness;
  const pinned = {
    match: `${hostname}/${namespace}/*`,
    fingerprints: pins?.map((name) => keys.fingerprintOf(name)),
  };
  return {
    offline,
    origins: { [hostname]: { ...origin, signatures, verification: profile } },
    freshness: { versions: `${versions}ms` },
    trust: { newKeys, keys: pins ? [pinned] : [] },
  };
}

function remembered<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
