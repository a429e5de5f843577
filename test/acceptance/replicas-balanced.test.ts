import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { bearer, issueToken } from "../client-token.ts";
import type { Sha256 } from "../../src/address/hash.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import { blobObject } from "../../src/store/layout.ts";
import { bucketLimits, canRunCeph } from "../fakes/ceph.ts";
import { effort } from "../effort.ts";
import { startRegistry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { tarGz } from "../fakes/module-archive.ts";
import type { Release } from "../fakes/release.ts";
import { has } from "../packaging/release.ts";
import { scratch, type RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  outcomeOf,
  readAudit,
  requestsFor,
} from "../scenes/provider-requests.ts";
import {
  moduleHost,
  readObject,
  sha256Of,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";
import {
  credentialsConfig,
  findClients,
  hostConfig,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
} from "./clients.ts";
import { startBalancer, type Balance, type Balancer } from "./haproxy.ts";
import { findFreePort } from "./nginx.ts";

const packaging = join(import.meta.dirname, "..", "..", "packaging");
const clients = await findClients();
const canRun =
  (await canRunCeph()) && (await has("haproxy", "replicas behind HAProxy"));
const ci = issueToken("ci");
const registryHost = "registry.terraform.io";
const address = `${registryHost}/acme/widget`;

let scene: ReplicaScene;
let replicas: readonly RunningMirror[];
let release: Release;
let settings: BucketSettings;
let publicUrl: URL;

/** Clients that come at once. */
const crowd = effort > 1 ? 300 : 60;

function withToken(balancer: Balancer): Balancer["get"] {
  return (path) => balancer.get(path, bearer(ci.token));
}

/** Reads the compose file's configuration of replicas; its publicUrl names the balancer. */
function readComposed() {
  const file = join(packaging, "compose", "replicas", "config.yaml");
  const { listen } = parse(readFileSync(file, "utf8")) as {
    readonly listen: Readonly<Record<string, unknown>>;
  };
  const own = { host: "127.0.0.1", port: 0, trustedProxies: ["127.0.0.1"] };
  return { publicUrl: publicUrl.href, listen: { ...listen, ...own } };
}

/** Requests a location of the balancer from this replica. */
function getAt(mirror: RunningMirror, location: string) {
  const { origin, pathname, search } = new URL(location);
  expect(origin).toBe(publicUrl.origin);
  return mirror.get(pathname + search);
}

async function balanced(
  balance: Balance,
  use: (balancer: Balancer) => Promise<void>,
): Promise<void> {
  const { authority } = scene;
  const balancer = await startBalancer(authority, publicUrl, replicas, balance);
  try {
    await use(balancer);
  } finally {
    await balancer.stop();
  }
}

describe.runIf(canRun)("three replicas behind HAProxy", () => {
  beforeAll(async () => {
    publicUrl = new URL(`https://127.0.0.1:${await findFreePort()}/`);
    scene = await startReplicaScene();
    release = await scene.registry.publish({ version: "1.2.3", size: 300_000 });
    const auth = { tokens: [ci.configured] };
    const config = { ...readComposed(), auth };
    settings = await scene.makeBucket();
    replicas = await scene.start({ count: 3, bucket: settings, config });
  }, 120_000);
  afterAll(() => scene.stop());

  it("serve with one archive URL on all, whichever signed it", async () => {
    const [one, two, three] = replicas as readonly [
      RunningMirror,
      RunningMirror,
      RunningMirror,
    ];
    const base = `/providers/${address}/`;
    const answer = await one.get(`${base}1.2.3.json`, bearer(ci.token));
    const { archives } = answer.json() as {
      archives: Record<string, { url: string }>;
    };
    const path = base + (archives.linux_amd64?.url ?? "");
    for (const mirror of [two, three, one])
      expect((await mirror.get(path)).status).toBe(200);
    const unsigned = `${base}terraform-provider-widget_1.2.3_linux_amd64.zip`;
    expect((await two.get(unsigned)).status).toBe(401);
  });

  it("fetch a module once, and have it from the bucket afterwards", async () => {
    const { modules } = scene;
    const bytes = await tarGz([["main.tf", "# a module"]]);
    const url = modules.serve("/files/shared.tar.gz", bytes);
    modules.publish("acme/shared/aws", "1.0.0", url);
    const path = `/v1/modules/${moduleHost}/acme/shared/aws/1.0.0`;
    const got = [];
    const bucket = new Bucket(settings, bucketLimits);
    const object = blobObject(sha256Of(bytes) as Sha256);
    for (const mirror of replicas) {
      const found = await mirror.get(`${path}/download`, bearer(ci.token));
      const location = String(found.headers["x-terraform-get"]);
      const archive = await getAt(mirror, location);
      got.push(archive.body.equals(bytes));
      await eventually(
        () => readObject(bucket, object),
        (kept) => kept.equals(bytes),
      );
    }
    await bucket.close();
    expect(got).toEqual([true, true, true]);
    expect(modules.count("/files/shared.tar.gz")).toBe(1);
  });

  it.each(["hash", "roundrobin"] as const)(
    `ask the origin once each at most for an archive that ${crowd} clients want at once: %s`,
    async (balance) => {
      const type = `cold-${balance}`;
      // Its namespace is new to every replica.
      const cold = await scene.registry.publish({
        namespace: type,
        type,
        version: "1.0.0",
        size: 2_000_000,
      });
      const { sha256 } = cold.archive("linux_amd64");
      const { requests } = scene.registry;
      requests.clear();
      await balanced(balance, async (balancer) => {
        const client = requestsFor({ get: withToken(balancer) }, type, type);
        const all = await Promise.all(
          Array.from({ length: crowd }, async () => {
            expect(outcomeOf(await client.index())).toBe("200");
            expect(outcomeOf(await client.version("1.0.0"))).toBe("200");
            return client.archive("1.0.0");
          }),
        );
        const digests = new Set(all.map(({ body }) => sha256Of(body)));
        expect([...digests]).toEqual([sha256]);
      });
      // By path as well: where the replica of that path has too much to do, another one gets some.
      expect(requests.count("archive")).toBeLessThanOrEqual(replicas.length);
      expect(requests.count("versions")).toBeLessThanOrEqual(replicas.length);
    },
    120_000,
  );

  it(`have one first content of a release that origins offer differently, each of ${3 * effort} times`, async () => {
    const bucket = await scene.makeBucket();
    const elsewhere = await startRegistry({ authority: scene.authority });
    const here = await scene.start({ bucket });
    const config = originsOf(scene.authority, elsewhere);
    const there = await scene.start({ bucket, config });
    const all = [...here, ...there];
    let alarms = 0;
    for (let round = 0; round < 3 * effort; round++) {
      const type = `differing-${round}`;
      for (const registry of [scene.registry, elsewhere])
        await registry.publish({
          type,
          version: "1.0.0",
          seed: registry === elsewhere ? "other" : "one",
        });
      const ask = () =>
        Promise.all(
          all.map((mirror) => requestsFor(mirror, type).version("1.0.0")),
        );
      await ask();
      const digests = (await ask()).map((answer) => digestsIn(answer));
      expect(digests[0]).toHaveProperty("linux_amd64");
      expect(digests[1]).toEqual(digests[0]);
      const lines = all.flatMap((mirror) => readAudit(mirror));
      const first = lines.filter(
        ({ event, provider }) =>
          event === "first-seen" && provider?.endsWith(`/${type}`),
      );
      // A replica that reads a pin before its line is written writes that line, too.
      expect(new Set(first.map(({ detail }) => detail)).size).toBe(1);
    }
    for (const mirror of all)
      alarms += await countAlarms(mirror, "release-replaced");
    expect(alarms).toBeGreaterThan(0);
    await elsewhere.stop();
  }, 300_000);

  describe.each(clients)("$name", (client) => {
    it("installs round robin through the network mirror and a host block", async () => {
      await balanced("roundrobin", async ({ url, caFile }) => {
        const { host } = new URL(url);
        const services = {
          "providers.v1": `${url}v1/providers/${registryHost}/`,
        };
        for (const cliConfig of [
          credentialsConfig(host, ci.token) +
            networkMirrorConfig(`${url}providers/`),
          credentialsConfig(registryHost, ci.token) +
            hostConfig(registryHost, services),
        ]) {
          const directory = scratch("init");
          const source = { widget: { source: address, version: "1.2.3" } };
          await writeConfiguration(directory, source);
          const ran = await runClient(client, ["init", "-no-color"], {
            directory,
            cliConfig,
            caFile,
          });
          expect(ran.output).toContain("successfully initialized");
          const locked = (await readLockFile(directory)).get(address);
          expect(locked?.hashes).toContain(release.archive("linux_amd64").h1);
        }
      });
    });
  });
});
