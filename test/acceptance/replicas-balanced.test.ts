import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { bearer, issueToken } from "../client-token.ts";
import { canRunCeph } from "../fakes/ceph.ts";
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

/** What the compose file's replicas have beside their bucket. */
function readComposed() {
  const file = join(packaging, "compose", "replicas", "config.yaml");
  const { publicUrl, listen } = parse(readFileSync(file, "utf8")) as {
    readonly publicUrl: string;
    readonly listen: Readonly<Record<string, unknown>>;
  };
  const own = { host: "127.0.0.1", port: 0, trustedProxies: ["127.0.0.1"] };
  return { publicUrl, listen: { ...listen, ...own } };
}

async function balanced(
  balance: Balance,
  use: (balancer: Balancer) => Promise<void>,
): Promise<void> {
  const { authority } = scene;
  const balancer = await startBalancer(authority, replicas, balance);
  try {
    await use(balancer);
  } finally {
    await balancer.stop();
  }
}

describe.runIf(canRun)("three replicas behind HAProxy", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
    release = await scene.registry.publish({ version: "1.2.3", size: 300_000 });
    const auth = { tokens: [ci.configured] };
    const config = { ...readComposed(), auth };
    replicas = await scene.start({ count: 3, config });
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
    for (const mirror of replicas) {
      const found = await mirror.get(`${path}/download`, bearer(ci.token));
      const location = String(found.headers["x-terraform-get"]);
      const archive = await mirror.get(
        new URL(location, `${mirror.url}${path.slice(1)}/download`).href,
      );
      got.push(archive.body.equals(bytes));
    }
    expect(got).toEqual([true, true, true]);
    expect(modules.count("/files/shared.tar.gz")).toBe(1);
  });

  it.each(["hash", "roundrobin"] as const)(
    "ask the origin once for an archive that 60 clients want at once: %s",
    async (balance) => {
      const type = `cold-${balance}`;
      const cold = await scene.registry.publish({
        type,
        version: "1.0.0",
        size: 2_000_000,
      });
      const { sha256 } = cold.archive("linux_amd64");
      scene.registry.requests.clear();
      await balanced(balance, async (balancer) => {
        const all = await Promise.all(
          Array.from({ length: 60 }, () =>
            requestsFor(balancer, type).archive("1.0.0", bearer(ci.token)),
          ),
        );
        const digests = new Set(all.map(({ body }) => sha256Of(body)));
        expect([...digests]).toEqual([sha256]);
      });
      expect(scene.registry.requests.count("archive")).toBe(1);
    },
  );

  it("read from a bucket that takes no writes, and refuse what would have to be written", async () => {
    const [one] = await scene.start();
    if (one === undefined) throw new Error("none");
    const known = requestsFor(one, "widget");
    expect((await known.archive("1.2.3")).status).toBe(200);
    await scene.registry.publish({ type: "unwritten", version: "1.0.0" });
    const unknown = () => requestsFor(one, "unwritten").version("1.0.0");
    await scene.ceph.permit("read");
    try {
      const refused = await unknown();
      expect(outcomeOf(refused)).toBe("503 bucket-refuses");
      expect(refused.headers["retry-after"]).toMatch(/^[1-5]$/);
      expect((await known.archive("1.2.3")).status).toBe(200);
      await eventually(
        async () => (await one.get("/readyz")).body.toString(),
        (body) => body.includes("takes no writes"),
      );
    } finally {
      await scene.ceph.permit("read, write, delete");
    }
    await eventually(unknown, ({ status }) => status === 200);
    await eventually(
      async () => (await one.get("/healthz")).body.toString(),
      (body) => body === '{"status":"ok"}',
    );
  });

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
      expect(first).toHaveLength(1);
    }
    for (const mirror of all)
      alarms += await countAlarms(mirror, "release-replaced");
    expect(alarms).toBeGreaterThan(0);
    await elsewhere.stop();
  }, 300_000);

  it("are told that their clock is wrong, and admit no release before its time by it", async () => {
    const bucket = await scene.makeBucket();
    const config = {
      policy: { minimumAge: "10m" },
      freshness: { versions: "1ms" },
    };
    const ahead = `
      const real = Date, by = 20 * 60_000;
      globalThis.Date = class extends real {
        constructor(...args) { args.length ? super(...args) : super(real.now() + by); }
        static now() { return real.now() + by; }
      };`;
    const shifted = `data:text/javascript,${encodeURIComponent(ahead)}`;
    const [right] = await scene.start({ bucket, config });
    const [wrong] = await scene.start({
      bucket,
      config,
      nodeOptions: ["--import", shifted],
    });
    if (right === undefined || wrong === undefined) throw new Error("none");
    const provider = {
      type: "aged",
      signedAt: new Date(Date.now() - 3_600_000),
    };
    await scene.registry.publish({ ...provider, version: "1.0.0" });
    expect((await requestsFor(right, "aged").index()).status).toBe(200);
    await scene.registry.publish({ ...provider, version: "1.1.0" });
    for (const mirror of [right, wrong])
      expect(
        outcomeOf(await requestsFor(mirror, "aged").version("1.1.0")),
      ).toBe("451 too-young");
    const health = (await wrong.get("/healthz")).body.toString();
    expect(health).toMatch(/clock is over 30 s ahead of the bucket's/);
    expect(await countAlarms(wrong, "bucket-failing")).toBe(1);
  });

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
