import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import { scratch } from "../running-mirror.ts";
import { endingWithTests } from "../child-process.ts";

const run = promisify(execFile);

const keys = { accessKeyId: "provender", secretAccessKey: "provender-secret" };
export const bucketLimits = { connect: 2_000, firstByte: 8_000, idle: 8_000 };

/** A real Ceph with one monitor, one OSD in memory and its S3 gateway, on loopback. */
export interface Ceph {
  readonly endpoint: URL;
  /** Makes a bucket of its own. */
  makeBucket(): Promise<BucketSettings>;
  /** Ends the gateway as a crash does; `startGateway` brings it back. */
  killGateway(): Promise<void>;
  startGateway(): Promise<void>;
  /**
   * Sets the permissions of the keys; "no growth" refuses writes that
   * make the bucket larger.
   */
  permit(what: "all" | "read" | "no growth"): Promise<void>;
  /** The gateway takes requests and answers none, until `resume`. */
  suspend(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** False, and a loud word on standard error, where Debian's ceph-mon, ceph-osd or radosgw is missing. */
export async function canRunCeph(): Promise<boolean> {
  const found = await Promise.all(
    ["ceph-mon", "ceph-osd", "radosgw", "ceph"].map((program) =>
      run(program, ["--version"]).then(
        () => true,
        () => false,
      ),
    ),
  );
  if (found.every(Boolean)) return true;
  console.error(
    "NOT TESTED with a bucket: install ceph-mon, ceph-osd and radosgw.",
  );
  return false;
}

/** Takes about 15 s. */
export async function startCeph(): Promise<Ceph> {
  const folder = scratch("ceph");
  const [monitor, gateway] = [await findFreePort(), await findFreePort()];
  const config = join(folder, "ceph.conf");
  const cluster = randomUUID();
  writeFileSync(config, configure({ folder, cluster, monitor, gateway }));
  const ceph = (...args: string[]) =>
    run("ceph", ["--conf", config, "--connect-timeout", "5", ...args]);
  const start = (program: string, ...args: string[]) =>
    spawn(...endingWithTests(program, ["--conf", config, ...args, "-f"]), {
      stdio: "ignore",
    });

  const map = join(folder, "monmap");
  const address = `[v2:127.0.0.1:${monitor}/0]`;
  await run("monmaptool", [
    ...["--create", "--fsid", cluster, "--addv", "a", address, map],
  ]);
  const mon = ["--conf", config, "-i", "a"];
  await run("ceph-mon", [...mon, "--mkfs", "--monmap", map]);
  const daemons = [start("ceph-mon", "-i", "a")];
  await until(() => ceph("status"));

  const disk = randomUUID();
  await ceph("osd", "new", disk);
  mkdirSync(join(folder, "osd"));
  const osd = ["--conf", config, "-i", "0"];
  await run("ceph-osd", [...osd, "--mkfs", "--osd-uuid", disk]);
  const place = ["osd.0", "1.0", "host=localhost", "root=default"];
  await ceph("osd", "crush", "add", ...place);
  daemons.push(start("ceph-osd", "-i", "0"));

  let radosgw: ChildProcess;
  const startGateway = async () => {
    radosgw = start("radosgw", "-n", "client.rgw");
    await until(() => reach(gateway));
  };
  await startGateway();
  const user = ["user", "create", "--uid", "provender", "--display-name", "p"];
  const secrets = [
    ...["--access-key", keys.accessKeyId, "--secret", keys.secretAccessKey],
  ];
  await run("radosgw-admin", ["--conf", config, ...user, ...secrets]);
  const endpoint = new URL(`http://127.0.0.1:${gateway}/`);
  return {
    endpoint,
    makeBucket: () => makeBucket(endpoint),
    permit: async (what) => {
      const of = ["--uid", "provender"];
      const quota = ["--quota-scope", "user", "--max-size", "1"];
      const mask = what === "read" ? "read" : "read, write, delete";
      const full = what === "no growth" ? "enable" : "disable";
      for (const command of [
        ["user", "modify", ...of, "--op-mask", mask],
        ["quota", "set", ...of, ...quota],
        ["quota", full, ...of, "--quota-scope", "user"],
      ])
        await run("radosgw-admin", ["--conf", config, ...command]);
    },
    killGateway: () => kill(radosgw),
    startGateway,
    suspend: () => void radosgw.kill("SIGSTOP"),
    resume: () => void radosgw.kill("SIGCONT"),
    stop: async () => {
      await Promise.all([...daemons, radosgw].map(kill));
    },
  };
}

async function makeBucket(endpoint: URL): Promise<BucketSettings> {
  const settings = settingsOf(endpoint, `provender-${randomUUID()}`);
  const bucket = new Bucket(settings, bucketLimits);
  await bucket.connection.send("be made", (client) =>
    client.createBucket({ Bucket: settings.bucket }),
  );
  await bucket.close();
  return settings;
}

export function settingsOf(endpoint: URL, bucket: string): BucketSettings {
  const where = {
    bucket,
    endpoint,
    region: "us-east-1",
    prefix: "p/",
  };
  return { ...where, pathStyle: true, ca: undefined, keys };
}

function configure(settings: {
  readonly folder: string;
  readonly cluster: string;
  readonly monitor: number;
  readonly gateway: number;
}): string {
  const { folder, cluster, monitor, gateway } = settings;
  const modes = ["cluster", "service", "client"].flatMap((mode) => [
    `ms ${mode} mode = crc`,
    ...(mode === "cluster" ? [] : [`ms mon ${mode} mode = crc`]),
    `auth ${mode} required = none`,
  ]);
  return `[global]
fsid = ${cluster}
mon host = [v2:127.0.0.1:${monitor}/0]
mon initial members = a
public addr = 127.0.0.1
${modes.join("\n")}
ms mon cluster mode = crc
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
mon max pg per osd = 1000
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4G
run dir = ${folder}
admin socket = ${folder}/$name.asok
pid file = ${folder}/$name.pid
log file = ${folder}/$name.log
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${gateway} tcp_nodelay=1
`;
}

async function kill(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, "exit");
  process.kill("SIGKILL");
  await ended;
}

async function reach(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

async function until(works: () => Promise<unknown>): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;)
    try {
      await works();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(200);
    }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
