import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLooseBucket } from "../fakes/loose-bucket.ts";
import type { Release } from "../fakes/release.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { startPostgres } from "./postgres.ts";
import { startOrigins } from "./world.ts";

export type ReplicaScene = Awaited<ReturnType<typeof startReplicaScene>>;

/** Replicas that are real daemons on one PostgreSQL, with one bucket, and the registry that they mirror. */
export async function startReplicaScene() {
  const { config: origins, ...origin } = await startOrigins();
  const bucket = await startLooseBucket();
  const postgres = await startPostgres();
  const running: RunningMirror[] = [];
  /** `database.url` of one that nothing else is in. */
  const makeDatabase = async () => {
    const file = join(scratch("database"), "url");
    writeFileSync(file, await postgres.createDatabase(), { mode: 0o600 });
    return { file };
  };
  const stopReplicas = async () => {
    await Promise.all(running.splice(0).map((mirror) => mirror.stop()));
  };
  return {
    ...{ ...origin, bucket, postgres, makeDatabase },
    /** On a database of their own, unless one is given. */
    start: async ({
      count = 1,
      database = undefined as { readonly file: string } | undefined,
      config = {},
    } = {}): Promise<readonly RunningMirror[]> => {
      const url = database ?? (await makeDatabase());
      const startOne = () => {
        const directory = scratch("replica");
        const listen = { port: 0, tls: "off" };
        const storage = { directory, s3: bucket.settings };
        const own = { listen, storage, database: { url } };
        const whole = { ...own, ...origins, ...config };
        return startMirror({ directory, config: whole });
      };
      const started = await Promise.all(
        Array.from({ length: count }, startOne),
      );
      running.push(...started);
      return started;
    },
    /** The archive of the release in the bucket, by its key there. */
    keyOf: (release: Release) => {
      const { sha256 } = release.archive("linux_amd64");
      return `blobs/v1/sha256/${sha256.slice(0, 2)}/${sha256}`;
    },
    stopReplicas,
    stop: async () => {
      await stopReplicas();
      bucket.stop();
      const { registry, modules } = origin;
      await Promise.all([registry.stop(), modules.stop(), postgres.close()]);
    },
  };
}
