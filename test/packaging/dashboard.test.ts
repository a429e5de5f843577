import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endingWithTests } from "../child-process.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { monitoring, rulesFile } from "../scenes/alert-rules.ts";
import { has } from "./release.ts";

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboard = JSON.parse(
  readFileSync(join(monitoring, "dashboard.json"), "utf8"),
) as Dashboard;

/** As Grafana fills them in. */
const queries: readonly (readonly [string, string])[] =
  dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => [
      title,
      expr.replaceAll("$__rate_interval", "10s").replaceAll("$instance", ".*"),
    ]),
  );

const canTest = await has("prometheus", "the queries of the dashboard");
const tests = canTest ? describe : describe.skip;

tests("every query of the dashboard", () => {
  let registry: Registry;
  let mirror: RunningMirror;
  let prometheus: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const authority = await createAuthority();
    registry = await startRegistry({ authority });
    await registry.publish({ type: "demo", version: "1.2.3" });
    mirror = await startMirror({ config: originsOf(authority, registry) });
    const folder = "/providers/registry.terraform.io/acme/demo";
    for (const path of ["index.json", "index.json", "1.2.3.json", "none"])
      await mirror.get(`${folder}/${path}`);
    ({ prometheus, url } = await startPrometheus(new URL(mirror.url).host));
  });

  afterAll(async () => {
    const ended = once(prometheus, "exit");
    prometheus.kill();
    await ended;
    await mirror.stop();
    await registry.stop();
  });

  it.each(queries)("returns a series: %s: %s", async (_, query) => {
    await expect.poll(() => ask(url, query), { interval: 250 }).not.toEqual([]);
  });

  it("and every alert rule is evaluated without an error", async () => {
    const healths = async () => {
      const { data } = await get(`${url}/api/v1/rules`);
      return data.groups?.flatMap(({ rules }) =>
        rules.map(({ health }) => health),
      );
    };
    await expect
      .poll(async () => new Set(await healths()))
      .toEqual(new Set(["ok"]));
  });
});

interface Reply {
  readonly data: {
    readonly result?: readonly unknown[];
    readonly groups?: readonly {
      readonly rules: readonly { readonly health: string }[];
    }[];
  };
}

async function get(address: string): Promise<Reply> {
  const answer = await fetch(address);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Reply;
}

async function ask(url: string, query: string) {
  const asked = `${url}/api/v1/query?query=${encodeURIComponent(query)}`;
  return (await get(asked)).data.result;
}

/** Scrapes the daemon twice a second. */
async function startPrometheus(target: string) {
  const folder = scratch("prometheus");
  const config = join(folder, "prometheus.yml");
  const job = {
    job_name: "provender",
    scheme: "https",
    tls_config: { insecure_skip_verify: true },
    static_configs: [{ targets: [target] }],
  };
  writeFileSync(
    config,
    JSON.stringify({
      global: {
        scrape_interval: "500ms",
        scrape_timeout: "500ms",
        evaluation_interval: "1s",
      },
      rule_files: [rulesFile],
      scrape_configs: [job],
    }),
  );
  const port = await findPort();
  const prometheus = spawn(
    ...endingWithTests("prometheus", [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]),
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const url = `http://127.0.0.1:${port}`;
  for await (const line of createInterface(prometheus.stderr))
    if (line.includes("Server is ready")) break;
  return { prometheus, url };
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
