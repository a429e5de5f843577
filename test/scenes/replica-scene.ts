import { buffer } from "node:stream/consumers";
import { createHash } from "node:crypto";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import {
  bucketLimits,
  startLooseBucket,
  type LooseBucket,
} from "../fakes/loose-bucket.ts";
import { makePart } from "./bucket-configuration.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { FakeModuleRegistry } from "../fakes/module-registry.ts";
import type { Release } from "../fakes/release.ts";
import type { Sha256 } from "../../src/address/hash.ts";
import { blobObject } from "../../src/store/layout.ts";
import { eventually } from "./provider-requests.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";

export const moduleHost = "modules.example.com";

/** Replicas that are real daemons on one bucket, and the registry that they mirror. */
export interface ReplicaScene {
  readonly bucket: LooseBucket;
  readonly authority: Authority;
  readonly registry: Registry;
  readonly modules: FakeModuleRegistry;
  /** On a part of its own, unless one is given. */
  start(options?: ReplicaOptions): Promise<readonly RunningMirror[]>;
  /** A part of the bucket that nothing else is in. */
  makePart(): BucketSettings;
  /** Resolves when an archive of the release is in the bucket. */
  awaitBrought(settings: BucketSettings, release: Release): Promise<void>;
  /** Stops the replicas that were started. */
  stopReplicas(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly count?: number;
  readonly bucket?: BucketSettings | undefined;
  readonly directory?: string;
  /** Besides its directory and its bucket. */
  readonly storage?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Besides the bucket's secret. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Environment of the daemons, and of commands beside them. */
export const env = { BUCKET_SECRET: "any" };

export async function startReplicaScene(): Promise<ReplicaScene> {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  const modules = await FakeModuleRegistry.start({ authority });
  const loose = await startLooseBucket({ keepsConditions: true });
  const { origins } = originsOf(authority, registry);
  const [{ ca }] = Object.values(origins) as [{ ca: string }];
  const all = { ...origins, [moduleHost]: { url: modules.url, ca } };
  const running: RunningMirror[] = [];
  const start = async ({
    count = 1,
    bucket,
    directory,
    storage,
    config,
    env: more,
  }: ReplicaOptions = {}) => {
    const shared = bucket ?? makePart(loose);
    const startOne = () => {
      const own = directory ?? scratch("replica");
      const listen = { port: 0, tls: "off" };
      const kept = { directory: own, s3: s3Of(shared), ...storage };
      return startMirror({
        env: { ...env, ...more },
        directory: own,
        config: { listen, storage: kept, origins: all, ...config },
      });
    };
    const started = await Promise.all(Array.from({ length: count }, startOne));
    running.push(...started);
    return started;
  };
  const stopReplicas = async () => {
    await Promise.all(running.splice(0).map((mirror) => mirror.stop()));
  };
  return {
    bucket: loose,
    authority,
    registry,
    modules,
    start,
    awaitBrought,
    makePart: () => makePart(loose),
    stopReplicas,
    stop: async () => {
      await stopReplicas();
      await Promise.all([registry.stop(), modules.stop()]);
      await loose.stop();
    },
  };
}

async function awaitBrought(
  settings: BucketSettings,
  release: Release,
): Promise<void> {
  const { sha256 } = release.archive("linux_amd64");
  const bucket = new Bucket(settings, bucketLimits);
  await eventually(
    () => bucket.head(blobObject(sha256 as Sha256)),
    (found) => found !== undefined,
  );
  await bucket.close();
}

export function s3Of({ endpoint, bucket, prefix, keys }: BucketSettings) {
  return {
    endpoint: endpoint.href,
    bucket,
    prefix,
    accessKeyId: keys?.accessKeyId,
    secretAccessKey: { env: "BUCKET_SECRET" },
  };
}

/** Archives that a replica has yet to bring into the bucket. */
export async function countWaiting(mirror: RunningMirror): Promise<number> {
  const text = (await mirror.get("/metrics")).body.toString();
  return Number(/^provender_bucket_outbox (\d+)$/m.exec(text)?.[1]);
}

export async function readObject(bucket: Bucket, key: string): Promise<Buffer> {
  const object = await bucket.get(key);
  return object ? buffer(object.body) : Buffer.of();
}

export function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
