import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  directConfig,
  findClients,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
} from "./clients.ts";
import { findNginx, startServer, type StaticServer } from "./nginx.ts";

const clients = await findClients();
const nginx = await findNginx();
const pairs = nginx === undefined ? [] : clients;
if (pairs.length === 0)
  it.skip("installs through a reverse proxy: nginx or the clients are not on PATH", () =>
    undefined);

const hostname = "registry.terraform.io";
const manual = join(
  ...[import.meta.dirname, "..", ".."],
  ...["docs", "operate.md"],
);

let registry: Registry;
let mirror: RunningMirror;
let proxy: StaticServer;
let caFile: string;

/** The `location` that the manual tells, and the same below a path. */
function locations(target: string): string {
  const [, block = ""] =
    /```nginx\n(.*?)```/s.exec(readFileSync(manual, "utf8")) ?? [];
  const [location = ""] = /^ {2}location \/ \{.*?^ {2}\}/ms.exec(block) ?? [];
  const root = location.replace("http://127.0.0.1:8443", target);
  const below = location
    .replace("location /", "location /tools/")
    .replace("http://127.0.0.1:8443", `${target}/`);
  return `${root}\n${below}`;
}

beforeAll(async () => {
  if (nginx === undefined) return;
  const authority = await createAuthority();
  caFile = join(scratch("ca"), "ca.pem");
  writeFileSync(caFile, authority.caPem);
  registry = await startRegistry({ authority });
  mirror = await startMirror({
    config: {
      ...originsOf(authority, registry),
      listen: { port: 0, tls: "off", trustedProxies: ["127.0.0.1"] },
    },
  });
  const target = mirror.url.replace(/\/$/, "");
  proxy = await startServer(nginx, authority, locations(target));
});

afterAll(async () => {
  if (nginx === undefined) return;
  await proxy.stop();
  await mirror.stop();
  await registry.stop();
});

describe.each(pairs)("$name $version behind nginx", (client) => {
  it.each([
    ["network mirror at the root", "", "mirror"],
    ["network mirror below a path", "tools/", "mirror"],
    ["host block at the root", "", "host"],
    ["host block below a path", "tools/", "host"],
  ] as const)("installs cold and warm: %s", async (_, path, way) => {
    const type = `proxied-${client.name}-${path === "" ? "root" : "path"}-${way}`;
    const release = await registry.publish({
      type,
      version: "1.0.0",
      platforms: ["linux_amd64", "darwin_arm64"],
      size: 3_000_000,
    });
    const base = `${proxy.url}${path}`;
    const cliConfig =
      way === "host"
        ? directConfig(`${base}v1/providers/${hostname}/`)
        : networkMirrorConfig(`${base}providers/`);
    const source = `${hostname}/acme/${type}`;
    for (const temperature of ["cold", "warm"]) {
      const directory = scratch("init");
      await writeConfiguration(directory, { it: { source } });
      const ran = await runClient(client, ["init", "-no-color"], {
        directory,
        cliConfig,
        caFile,
      });
      expect([temperature, ran.status, ran.output]).toEqual([
        temperature,
        0,
        expect.stringContaining("successfully initialized"),
      ]);
      const locked = (await readLockFile(directory)).get(source);
      expect(locked?.hashes).toContain(release.archive("linux_amd64").h1);
    }
    const asked = registry.requests
      .list("archive")
      .filter((request) => request.path.includes(type));
    expect(asked).toHaveLength(1);
  });
});
