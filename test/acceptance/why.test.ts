import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { runCommand } from "../scenes/provider-requests.ts";
import { cases, host, onFullDisk, startWhyScene } from "../scenes/why-scene.ts";
import {
  hostConfig,
  init,
  networkMirrorConfig,
  type Client,
} from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";

const clients = await findTestedClients();

const scene = await startWhyScene();

/** The same store where no origin is asked. */
const offline = await startMirror({
  directory: scene.mirror.directory,
  config: { offline: true, ...originsOf(scene.authority, scene.registry) },
});

/** Where the registry's services are, and the methods of installation, of which `direct` asks it. */
const beside = (hostname: string, methods: string) =>
  `${hostConfig(hostname, { "providers.v1": scene.registry.providersUrl })}provider_installation {\n${methods}  direct {}\n}\n`;

const ways = {
  "a network mirror": ({ url }: RunningMirror) =>
    networkMirrorConfig(`${url}providers/`),
  "a host block": ({ url }: RunningMirror, hostname: string) =>
    hostConfig(hostname, {
      "providers.v1": `${url}v1/providers/${hostname}/`,
    }),
  "the registry alone": (_: RunningMirror, hostname: string) =>
    beside(hostname, ""),
  "a network mirror, and then the registry": (
    { url }: RunningMirror,
    hostname: string,
  ) =>
    beside(hostname, `  network_mirror {\n    url = "${url}providers/"\n  }\n`),
} as const;

const throughMirror = ["a network mirror", "a host block"] as const;

// A client trusts one file.
const caFile = join(scratch("ca"), "all.pem");
const cas = [scene.mirror, scene.full, offline].map((mirror) =>
  readFileSync(mirror.caFile, "utf8"),
);
writeFileSync(caFile, [...cas, scene.authority.caPem].join("\n"));

/** What `init` ends with for `HOSTNAME/NAMESPACE/TYPE[/VERSION]`. */
async function install(
  client: Client,
  way: keyof typeof ways,
  path: string,
  mirror = scene.mirror,
) {
  const [hostname = "", namespace, type, version] = path.split("/");
  const source = `${hostname}/${namespace}/${type}`;
  const wanted = version === undefined ? { source } : { source, version };
  const cliConfig = ways[way](mirror, hostname);
  const ran = await init(client, { wanted }, { cliConfig, caFile });
  const folder = join(ran.directory, ".terraform", "providers", source);
  return { ...ran, installed: existsSync(folder) };
}

async function explain(path: string, mirror = scene.mirror) {
  const spec = path.replace(/\/(?=\d[^/]*$)/, "@");
  const { url, caFile } = mirror;
  const named = ["--mirror", url, "--ca", caFile, "--json"];
  const run = await runCommand(mirror, "explain", spec, ...named);
  const { verdict, headline } = JSON.parse(run.stdout) as {
    readonly verdict: keyof typeof printed;
    readonly headline: string;
  };
  return { status: run.status, verdict, headline };
}

/** What is stored, and what is not, where no origin is asked; `code` where clients do not get it. */
const whileOffline = [
  { path: `${host}/acme/recreated/1.0.0` },
  { path: `${host}/acme/broken/1.0.0`, code: "offline" },
  { path: `${host}/acme/withdrawn/1.0.0`, code: "content-revoked" },
  { path: `${host}/acme/never-met`, code: "offline" },
].map((one) => ({ ...one, title: `offline: ${one.path}`, headline: /./ }));

const ofProviders = [
  ...cases.map((one) => ({ ...one, mirror: scene.mirror })),
  { ...onFullDisk, mirror: scene.full },
  ...whileOffline.map((one) => ({ ...one, mirror: offline })),
].filter(({ path }) => !path.includes("modules."));

/** What may not be had, of a registry that has it all. */
const refused = ofProviders.filter(
  ({ path, code = "", mirror }) =>
    mirror === scene.mirror &&
    path.startsWith(`${host}/`) &&
    /^(?:content-revoked|policy-denied|too-young|key-refused)$/.test(code),
);
/** What clients print themselves, by the verdict of `explain`. */
const printed = {
  served: /Installed/,
  refused: /451|no available releases match/,
  failing: /50[234]|unexpected EOF/,
  absent:
    /was not found in any|no available releases match|does not have a provider/,
};

/** The page that a client names, which is of what was asked for or of the provider alone. */
async function followed(mirror: RunningMirror, output: string) {
  const [, path] =
    /see https:\/\/[^/]+(\/why\/\S+?)\.?(?: |$)/.exec(output) ?? [];
  return path && (await mirror.get(path)).body.toString();
}

describe.each(clients)("$name $version gets what explain says", (client) => {
  it.each(throughMirror)("of every state of a release, by %s", async (way) => {
    for (const { title, path, code, headline = /./, mirror } of ofProviders) {
      const { status, output } = await install(client, way, path, mirror);
      const told = await explain(path, mirror);
      expect.soft({ title, status: told.status }).toEqual({
        ...{ title, status: code === undefined ? 0 : 1 },
      });
      expect.soft(told.headline, title).toMatch(headline);
      expect.soft({ title, status, told }).toMatchObject({
        status: told.verdict === "served" ? 0 : 1,
      });
      expect.soft(output, title).toMatch(printed[told.verdict]);
      const page = await followed(mirror, output);
      // By network mirror terraform goes on with a hint of its own.
      if (/451 (?!To see)[A-Z]/.test(output))
        expect.soft(page, title).toBeDefined();
      if (page !== undefined)
        expect.soft(page, title).not.toContain("Clients get it.");
    }
  });
});

const both = "a network mirror, and then the registry";

describe.each(clients)(
  "$name $version with direct after the mirror",
  (client) => {
    it.each(refused)(
      "does not install $title, which the registry has",
      async ({ path }) => {
        const directly = await install(client, "the registry alone", path);
        expect([directly.status, directly.installed]).toEqual([0, true]);
        const ran = await install(client, both, path);
        expect(ran.output).toContain("451");
        expect([ran.status, ran.installed]).toEqual([1, false]);
      },
    );

    it("installs what is allowed beside what is not", async () => {
      const path = `${host}/acme/partly/1.0.0`;
      const ran = await install(client, both, path);
      expect([ran.status, ran.installed]).toEqual([0, true]);
    });
  },
);
