import { createAuthority, type Authority } from "../fakes/authority.ts";
import { startCeph, type Ceph } from "../fakes/ceph.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";

/** Replicas that are real daemons on one bucket of a real Ceph, and the registry that they mirror. */
export interface ReplicaScene {
  readonly ceph: Ceph;
  readonly authority: Authority;
  readonly registry: Registry;
  /** On a bucket of its own, unless one is given. */
  start(options?: ReplicaOptions): Promise<readonly RunningMirror[]>;
  makeBucket(): Promise<BucketSettings>;
  /** Stops the replicas that were started. */
  stopReplicas(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly count?: number;
  readonly bucket?: BucketSettings;
  readonly directory?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Of the daemons, and of commands beside them. */
export const env = { BUCKET_SECRET: "provender-secret" };

/** Takes about 15 s. */
export async function startReplicaScene(): Promise<ReplicaScene> {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  const ceph = await startCeph();
  const origins = originsOf(authority, registry);
  const running: RunningMirror[] = [];
  const start = async ({
    count = 1,
    bucket,
    directory,
    config,
  }: ReplicaOptions = {}) => {
    const shared = bucket ?? (await ceph.makeBucket());
    const startOne = () => {
      const own = directory ?? scratch("replica");
      const listen = { port: 0, tls: "off" };
      const storage = { directory: own, s3: s3Of(shared) };
      return startMirror({
        env,
        directory: own,
        config: { listen, storage, ...origins, ...config },
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
    ceph,
    authority,
    registry,
    start,
    makeBucket: () => ceph.makeBucket(),
    stopReplicas,
    stop: async () => {
      await stopReplicas();
      await registry.stop();
      await ceph.stop();
    },
  };
}

function s3Of({ endpoint, bucket, prefix, keys }: BucketSettings) {
  return {
    endpoint: endpoint.href,
    bucket,
    prefix,
    accessKeyId: keys?.accessKeyId,
    secretAccessKey: { env: "BUCKET_SECRET" },
  };
}
