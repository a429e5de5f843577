import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import {
  startMirror,
  type GetOptions,
  type RunningMirror,
} from "../../running-mirror.ts";
import { awaitLineOf, awaitMessage } from "../../scenes/log-lines.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";

const base = "/providers/registry.terraform.io/acme/";
const archive = `${base}demo/terraform-provider-demo_1.2.3_linux_amd64.zip`;

let registry: Registry;
let config: ReturnType<typeof originsOf>;
const started: RunningMirror[] = [];

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ type: "demo", version: "1.2.3" });
  config = originsOf(authority, registry);
});

afterAll(async () => {
  await Promise.all(started.map((mirror) => mirror.stop()));
  await registry.stop();
});

async function start(
  limits: Readonly<Record<string, unknown>>,
  listen: Readonly<Record<string, unknown>> = {},
): Promise<RunningMirror> {
  const mirror = await startMirror({
    config: { ...config, limits, listen: { port: 0, ...listen } },
  });
  started.push(mirror);
  return mirror;
}

/** Number of unknown names used so far. */
let names = 0;
function askUnknown(mirror: RunningMirror, options: GetOptions = {}) {
  return mirror.get(`${base}unknown-${names++}/index.json`, options);
}

describe("a client that asks for more metadata than it may", () => {
  it("is answered 429, which says when to ask again and is logged", async () => {
    const mirror = await start({ metadataPerClient: 3 });
    for (let count = 0; count < 3; count++)
      expect(outcomeOf(await askUnknown(mirror))).toBe("404 not-found");
    registry.requests.clear();
    const refused = await askUnknown(mirror);

    expect(outcomeOf(refused)).toBe("429 too-many-requests");
    expect(refused.headers["retry-after"]).toMatch(/^[1-5]$/);
    expect(refused.headers["content-type"]).toBe("application/json");
    expect(refused.headers["cache-control"]).toBe("no-store");
    expect(refused.json()).toEqual({
      errors: [expect.stringMatching(/^127\.0\.0\.1 .*\.$/)],
      remedy: "try again shortly",
      code: "too-many-requests",
      requestId: refused.headers["x-request-id"],
    });
    expect(registry.requests.count()).toBe(0);
    expect(await awaitLineOf(mirror, refused)).toMatchObject({
      status: 429,
      outcome: "refused",
      code: "too-many-requests",
      client: "127.0.0.1",
    });
  });

  it("still gets archives, and sees that the mirror lives", async () => {
    const mirror = await start({ metadataPerClient: 2 });
    for (let count = 0; count < 4; count++) await askUnknown(mirror);
    expect((await askUnknown(mirror)).status).toBe(429);
    for (const path of [archive, "/healthz", "/readyz", "/metrics", "/"])
      expect((await mirror.get(path)).status).toBe(200);
  });
});

it("a fleet behind one address gets what the mirror holds as often as it likes", async () => {
  const mirror = await start({ metadataPerClient: 10 });
  for (const document of ["index.json", "1.2.3.json"])
    await mirror.get(`${base}demo/${document}`);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      mirror.get(`${base}demo/${n % 2 === 0 ? "index" : "1.2.3"}.json`),
    ),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses]).toEqual([200]);
});

describe("behind a trusted proxy", () => {
  it("each forwarded client has its own allowance, and is named in the log", async () => {
    const listen = { trustedProxies: ["127.0.0.0/8"] };
    const mirror = await start({ metadataPerClient: 2 }, listen);
    const statuses: number[][] = [];
    for (const client of ["192.0.2.1", "192.0.2.2"]) {
      const headers = { "X-Forwarded-For": `198.51.100.1, ${client}` };
      const answers = [];
      for (let count = 0; count < 3; count++)
        answers.push(await askUnknown(mirror, { headers }));
      statuses.push(answers.map(({ status }) => status));
      const line = await awaitLineOf(mirror, answers[0] ?? expect.fail());
      expect(line.client).toBe(client);
    }
    expect(statuses).toEqual([
      [404, 404, 429],
      [404, 404, 429],
    ]);
  });

  it("a proxy that names no client is not capped", async () => {
    const listen = { trustedProxies: ["127.0.0.1"] };
    const mirror = await start({ metadataPerClient: 1 }, listen);
    for (let count = 0; count < 4; count++)
      expect((await askUnknown(mirror)).status).toBe(404);
  });
});

it("X-Forwarded-For of anybody else changes nothing", async () => {
  const mirror = await start({ metadataPerClient: 2 });
  const ask = (client: number) =>
    askUnknown(mirror, { headers: { "X-Forwarded-For": `192.0.2.${client}` } });
  const answers = [await ask(1), await ask(2), await ask(3)];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 429]);
  const line = await awaitLineOf(mirror, answers[2] ?? expect.fail());
  expect(line.client).toBe("127.0.0.1");
});

describe("a client with more connections than it may have", () => {
  async function open(mirror: RunningMirror): Promise<Socket> {
    const { hostname: host, port } = new URL(mirror.url);
    const socket = connect({ host, port: Number(port) });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  }

  it.each(["self-signed", "off"])(
    "has one too many closed, and may come again (tls: %s)",
    async (tls) => {
      const mirror = await start({ connectionsPerClient: 3 }, { tls });
      const held = await Promise.all([
        open(mirror),
        open(mirror),
        open(mirror),
      ]);
      for (let count = 0; count < 5; count++) {
        const closed = (await open(mirror)).resume();
        await new Promise((resolve) => closed.once("close", resolve));
      }
      const line = await awaitMessage(mirror, "client connections refused");
      expect(line).toMatchObject({ client: "127.0.0.1", most: 3 });
      for (const socket of held) socket.destroy();

      let status = 0;
      while (status !== 200)
        ({ status } = await mirror
          .get("/healthz")
          .catch(() => ({ status: 0 })));
      const repeats = mirror.log.filter(({ msg }) => msg === line.msg);
      expect(repeats).toHaveLength(1);
      const metrics = (await mirror.get("/metrics")).body.toString();
      expect(metrics).toMatch(/^provender_connections_refused_total [5-9]/m);
    },
  );
});
