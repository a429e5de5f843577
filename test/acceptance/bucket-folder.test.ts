import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bodyOf } from "../../src/store/bucket/bucket-connection.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import { createAuthority } from "../fakes/authority.ts";
import {
  bucketLimits,
  canRunCeph,
  startCeph,
  type Ceph,
} from "../fakes/ceph.ts";
import type { Release } from "../fakes/release.ts";
import { defaultSigner } from "../fakes/signing.ts";
import { runCommand } from "../running-command.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  filesOf,
  folderHost,
  keysOf,
  makeDist,
  writeFiles,
  type Files,
} from "../scenes/origin-folder.ts";
import { env, s3Of } from "../scenes/replica-scene.ts";
import {
  describeServedFolder,
  put,
  versionsOf,
  type ServedFolder,
} from "../scenes/served-folder.ts";
import {
  directConfig,
  findClients,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
} from "./clients.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clients = await findClients();
const prefix = "own/providers/";

let ceph: Ceph;
let tls: { readonly certificate: string; readonly key: string };
let caFile: string;

function startReplica(settings: BucketSettings): Promise<RunningMirror> {
  const directory = scratch("replica");
  const storage = { directory, s3: s3Of(settings) };
  const listen = { port: 0, tls };
  const origins = { [folderHost]: { bucketPrefix: prefix } };
  const config = { listen, storage, origins };
  return startMirror({ env, caFile, directory, config });
}

async function write(bucket: Bucket, path: string, files: Files) {
  for (const [name, content] of Object.entries(files))
    await bucket.put(`${prefix}${path}/${name}`, bodyOf(content));
}

async function serveBucket(): Promise<ServedFolder> {
  const settings = await ceph.makeBucket();
  const bucket = new Bucket(settings, bucketLimits);
  await write(bucket, "acme/keys", keysOf(await defaultSigner()));
  return {
    mirror: await startReplica(settings),
    show: (path) => `s3://${settings.bucket}/p/${prefix}${path}`,
    write: (path, files) => write(bucket, path, files),
    remove: async (path) => {
      for await (const { key } of bucket.list(`${prefix}${path}/`))
        await bucket.delete(key);
    },
  };
}

describe.runIf(await canRunCeph())("a folder in a bucket", () => {
  beforeAll(async () => {
    ceph = await startCeph();
    const authority = await createAuthority();
    const issued = await authority.issue(["127.0.0.1", "localhost"]);
    const folder = scratch("tls");
    caFile = join(folder, "ca.pem");
    tls = { certificate: join(folder, "site.pem"), key: join(folder, "key") };
    writeFileSync(caFile, authority.caPem);
    writeFileSync(tls.certificate, issued.certificate);
    writeFileSync(tls.key, issued.key, { mode: 0o600 });
  });
  afterAll(() => ceph.stop());

  describeServedFolder("a prefix of a bucket as an origin", serveBucket);

  it("passes over names that no file can have, and still lists what is beside them", async () => {
    const folder = await serveBucket();
    const widget = await makeDist({ version: "1.0.0" });
    await put(folder, widget);
    const strange = ["..", ".", "", "1.0.0/", "2.0.0", "\u0001", "a\\b", "%2F"];
    for (const name of strange)
      await folder.write("acme/widget", { [name]: "", [`${name}/file`]: "" });
    for (const name of ["..", "x.asc/", "", "%"])
      await folder.write("acme/keys", { [name]: "" });
    expect(await versionsOf(folder, "widget")).toEqual(["1.0.0"]);
    const path = `providers/${folderHost}/acme/widget/1.0.0.json`;
    expect((await folder.mirror.get(path)).status).toBe(200);
    await folder.mirror.stop();
  });

  describe("after a release was published from another machine", () => {
    let replicas: readonly RunningMirror[] = [];
    let release: Release;

    beforeAll(async () => {
      const settings = await ceph.makeBucket();
      const bucket = new Bucket(settings, bucketLimits);
      await write(bucket, "acme/keys", keysOf(await defaultSigner()));
      const config = join(scratch("config"), "provender.yaml");
      const storage = { directory: scratch("none"), s3: s3Of(settings) };
      const origins = { [folderHost]: { bucketPrefix: prefix } };
      const configuration = { listen: { tls: "off" }, storage, origins };
      writeFileSync(config, JSON.stringify(configuration));
      const platforms = ["linux_amd64", "darwin_arm64"];
      release = await makeDist({ version: "1.2.3", platforms, size: 100_000 });
      const dist = writeFiles(scratch("dist"), filesOf(release));
      const to = `s3://${settings.bucket}/p/${prefix}`;
      const args = ["publish", dist, "--to", to, "--config", config];
      const published = await runCommand(args, { env });
      expect(published.stderr).toContain(`${to}acme/widget/1.2.3 is published`);
      replicas = [await startReplica(settings), await startReplica(settings)];
      const checked = await runCommand(["doctor", "--config", config], { env });
      expect(checked.stdout).toContain(`${to} stands for ${folderHost}`);
    });

    afterAll(() => Promise.all(replicas.map((one) => one.stop())));

    const ways = [
      (url: string) =>
        directConfig(`${url}v1/providers/${folderHost}/`, folderHost),
      (url: string) => networkMirrorConfig(`${url}providers/`),
    ];

    it.each(
      clients.flatMap((client) =>
        ["a host block of one", "the network mirror of another"].map(
          (way, index) => ({ ...client, client, way, index }),
        ),
      ),
    )(
      "$name $version installs it through $way replica",
      async ({ client, index }) => {
        const directory = scratch("init");
        const source = `${folderHost}/acme/widget`;
        const widget = { source, version: "1.2.3" };
        await writeConfiguration(directory, { widget });
        const cliConfig = ways[index]?.(replicas[index]?.url ?? "") ?? "";
        const options = { directory, cliConfig, caFile };
        const args = ["init", "-no-color"];
        const ran = await runClient(client, args, options);
        expect(ran.output).toContain("successfully initialized");
        const locked = (await readLockFile(directory)).get(source);
        expect(locked?.hashes).toContain(release.archive("linux_amd64").h1);
      },
    );
  });

  it("is an origin that is down while the bucket is", async () => {
    const folder = await serveBucket();
    await put(folder, await makeDist({ version: "1.0.0" }));
    expect(await versionsOf(folder, "widget")).toEqual(["1.0.0"]);
    ceph.suspend();
    try {
      await expect
        .poll(() => JSON.stringify(folder.mirror.log), { timeout: 20_000 })
        .toContain("bucket-failing");
      expect(await versionsOf(folder, "widget")).toEqual(["1.0.0"]);
      const path = `providers/${folderHost}/acme/other/index.json`;
      const { status, body } = await folder.mirror.get(path);
      expect(status).toBeGreaterThanOrEqual(500);
      expect(body.toString()).toContain("bucket");
    } finally {
      ceph.resume();
      await folder.mirror.stop();
    }
  });
});
