import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { join } from "node:path";
import { findFreePort, startServer } from "../test/acceptance/servers.ts";
import type { Authority } from "../test/fakes/authority.ts";
import type { Release } from "../test/fakes/release.ts";
import { has } from "../test/packaging/release.ts";
import {
  fetchFrom,
  scratch,
  type GetOptions,
  type RunningMirror,
} from "../test/running-mirror.ts";
import { eventually, requestsFor } from "../test/scenes/provider-requests.ts";
import {
  startReplicaScene,
  type ReplicaScene,
} from "../test/scenes/replica-scene.ts";
import { findInstaller, type Installer, type Source } from "./installer.ts";
import { check, install, perform, say } from "./stage.ts";

/** Three replicas on one PostgreSQL and one bucket behind a balancer; `mirror` is the balancer. */
interface Stage {
  readonly scene: ReplicaScene;
  readonly registry: ReplicaScene["registry"];
  readonly installer: Installer;
  readonly mirror: Source;
}

async function main(): Promise<void> {
  for (const [program, what] of [
    ["haproxy", "the balancer"],
    ["initdb", "the database"],
  ] as const)
    if (!has(program, what)) {
      say("Install them: apt-get install haproxy postgresql");
      check(false, `there is ${what} to show replicas with`);
      return;
    }
  const scene = await startReplicaScene();
  try {
    await show(scene);
  } finally {
    await scene.stop();
  }
}

/** HAProxy as the compose file runs it, but round robin, in front of these replicas, at the URL that they tell clients. */
async function startBalancer(
  authority: Authority,
  url: URL,
  replicas: readonly RunningMirror[],
) {
  const folder = scratch("haproxy");
  const { certificate, key } = await authority.issue(["127.0.0.1"]);
  writeFileSync(join(folder, "site.pem"), `${certificate}\n${key}`);
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.caPem);
  const packaged = new URL(
    "../packaging/compose/replicas/haproxy.cfg",
    import.meta.url,
  );
  const servers = replicas.map(
    (replica, index) => `  server r${index} ${new URL(replica.url).host} check`,
  );
  const text = readFileSync(packaged, "utf8")
    .replace(/^ {2}log stdout .*$/m, "")
    .replace("bind :8443", `bind 127.0.0.1:${url.port}`)
    .replace("/etc/haproxy/mirror.pem", join(folder, "site.pem"))
    .replace(/^ {2}server-template .*$/m, servers.join("\n"))
    .replace(/balance uri[^]*?hash-balance.*/, "balance roundrobin");
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, text);
  const args = ["-db", "-f", file];
  const { stop } = await startServer(Number(url.port), "haproxy", args);
  const agent = new Agent({ ca: authority.caPem });
  return {
    ...{ url: url.href, caFile, stop },
    get: (path: string, options: GetOptions = {}) =>
      fetchFrom(new URL(path, url), agent, options),
  };
}

async function show(scene: ReplicaScene): Promise<void> {
  const { registry, authority } = scene;
  const size = 8_000_000;
  const release = await registry.publish({ version: "1.2.3", size });
  const url = new URL(`https://127.0.0.1:${await findFreePort()}/`);
  const config = { publicUrl: url.href };
  const replicas = await scene.start({ count: 3, config });
  const mirror = await startBalancer(authority, url, replicas);
  const installer = await findInstaller();
  const stage = { scene, registry, installer, mirror };
  say(`Replicas   ${replicas.map(({ url }) => url).join(" ")}`);
  say(`Balancer   ${mirror.url}providers/`);
  say(`Client     ${installer.name}`);
  try {
    say("\n1. Cold: neither the replicas nor the bucket have anything");
    await install(stage, release);
    await askAtOnce(stage);
    say("\n3. One replica is killed");
    await replicas[0]?.kill();
    await install(stage, release);
    await stopDatabase(stage, release);
  } finally {
    await mirror.stop();
  }
}

async function askAtOnce({ registry, mirror }: Stage): Promise<void> {
  say("\n2. 60 clients ask for one archive at once, through all replicas");
  const cold = { type: "cold", version: "1.0.0", size: 2_000_000 };
  const release = await registry.publish(cold);
  registry.requests.clear();
  const answers = await Promise.all(
    Array.from({ length: 60 }, () =>
      requestsFor(mirror, "cold").archive("1.0.0"),
    ),
  );
  const { sha256 } = release.archive("linux_amd64");
  const right = answers.filter(
    ({ body }) => hash("sha256", body) === sha256,
  ).length;
  check(right === 60, `${right} of 60 got what was signed`);
  const asked = registry.requests.count("archive");
  check(asked <= 3, `requests to the origin for it, of 3 replicas: ${asked}`);
}

async function stopDatabase(stage: Stage, release: Release): Promise<void> {
  const { scene, registry, mirror } = stage;
  say("\n4. The database is stopped");
  await scene.postgres.stop();
  await install(stage, release);
  await registry.publish({ type: "unknown", version: "1.0.0" });
  const ask = () => requestsFor(mirror, "unknown").version("1.0.0");
  const refused = await ask();
  const retry = String(refused.headers["retry-after"]);
  check(
    refused.status === 503,
    `a provider that no replica has seen: ${refused.status}, to be asked for again in ${retry} s`,
  );
  say("   The database is back");
  await scene.postgres.start();
  const served = await eventually(ask, ({ status }) => status === 200);
  check(served.status === 200, "it is served");
}

await perform(main);
