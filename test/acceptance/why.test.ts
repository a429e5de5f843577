import { describe, expect, it } from "vitest";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { requestsFor, runCommand } from "../scenes/provider-requests.ts";
import { cases, host, WhyScene } from "../scenes/why-scene.ts";
import {
  findClients,
  hostConfig,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();

const scene = await WhyScene.start();

/** The same store where no origin is asked. */
const offline = await startMirror({
  directory: scene.mirror.directory,
  config: { offline: true, ...originsOf(scene.authority, scene.registry) },
});

const ways = {
  "a network mirror": ({ url }: RunningMirror) =>
    networkMirrorConfig(`${url}providers/`),
  "a host block": ({ url }: RunningMirror, hostname: string) =>
    hostConfig(hostname, {
      "providers.v1": `${url}v1/providers/${hostname}/`,
    }),
} as const;

/** What `init` ends with for `HOSTNAME/NAMESPACE/TYPE[/VERSION]`. */
async function init(
  client: Client,
  way: keyof typeof ways,
  path: string,
  mirror = scene.mirror,
) {
  const [hostname = "", namespace, type, version] = path.split("/");
  const directory = scratch("why");
  const source = `${hostname}/${namespace}/${type}`;
  const wanted = version === undefined ? { source } : { source, version };
  await writeConfiguration(directory, { wanted });
  return runClient(client, ["init", "-no-color"], {
    ...{ directory, cliConfig: ways[way](mirror, hostname) },
    caFile: mirror.caFile,
  });
}

async function explain(path: string, mirror = scene.mirror) {
  const spec = path.replace(/\/(?=\d[^/]*$)/, "@");
  const { url, caFile } = mirror;
  const named = ["--mirror", url, "--ca", caFile, "--json"];
  const run = await runCommand(mirror, "explain", spec, ...named);
  const { verdict, headline } = JSON.parse(run.stdout) as {
    readonly verdict: string;
    readonly headline: string;
  };
  // The page says what the command says.
  const page = await mirror.get(`/why/${path}`);
  expect
    .soft(page.body.toString())
    .toContain(headline.replaceAll('"', "&quot;"));
  return { status: run.status, verdict, headline };
}

const ofProviders = cases.filter(({ path }) => !path.includes("modules."));

describe.each(clients)("$name $version gets what explain says", (client) => {
  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    "of every state of a release, by %s",
    async (way) => {
      const rows = [];
      for (const { title, path, code, headline = /./ } of ofProviders) {
        const { status } = await init(client, way, path);
        const told = await explain(path);
        rows.push({ title, client: status, explain: told.status });
        expect.soft({ title, status: told.status }).toEqual({
          ...{ title, status: code === undefined ? 0 : 1 },
        });
        expect.soft(told.headline, title).toMatch(headline);
        expect.soft({ title, status, told }).toMatchObject({
          status: told.verdict === "served" ? 0 : 1,
        });
      }
      expect(rows).toHaveLength(ofProviders.length);
    },
  );

  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    "of what is stored and what is not, while no origin is asked, by %s",
    async (way) => {
      for (const [path, status] of [
        [`${host}/acme/recreated/1.0.0`, 0],
        [`${host}/acme/broken/1.0.0`, 1],
        [`${host}/acme/withdrawn/1.0.0`, 1],
        [`${host}/acme/never-met`, 1],
      ] as const) {
        const ran = await init(client, way, path, offline);
        expect.soft([path, ran.status]).toEqual([path, status]);
        expect.soft(await explain(path, offline)).toMatchObject({ status });
      }
    },
  );

  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    "of one that vanished, was never stored and came out this minute, by %s",
    async (way) => {
      const type = `gone-${client.name}-${way.length}`;
      const release = { type, version: "1.0.0", signer: scene.own };
      const gone = await scene.registry.publish(release);
      const path = `${host}/acme/${type}`;
      expect(await explain(`${path}/1.1.0`)).toMatchObject({ status: 1 });
      expect((await init(client, way, `${path}/1.1.0`)).status).toBe(1);
      const next = await scene.registry.publish({
        ...release,
        version: "1.1.0",
      });
      expect(await explain(`${path}/1.1.0`)).toMatchObject({ status: 0 });
      expect((await init(client, way, `${path}/1.1.0`)).status).toBe(0);
      // That one is stored; the other one was only seen.
      await requestsFor(scene.mirror, type).version("1.0.0");
      for (const one of [gone, next]) scene.registry.withdraw(one);
      expect(await explain(`${path}/1.0.0`)).toMatchObject({ status: 1 });
      expect((await init(client, way, `${path}/1.0.0`)).status).toBe(1);
      expect(await explain(`${path}/1.1.0`)).toMatchObject({ status: 0 });
      expect((await init(client, way, `${path}/1.1.0`)).status).toBe(0);
    },
  );
});
