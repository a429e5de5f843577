import { readFileSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startProxy, type Proxy } from "../fakes/proxy.ts";
import { scratch, type RunningMirror } from "../running-mirror.ts";
import { rounds, tokens, WhyScene } from "../scenes/why-scene.ts";
import {
  credentialsConfig,
  findClients,
  hostConfig,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";
import { excerpt, sections, type Section } from "./troubleshooting.ts";

// PROVENDER_WRITE_DOCS=1 writes docs/troubleshooting.md again.

const file = join(
  import.meta.dirname,
  ...["..", "..", "docs", "troubleshooting.md"],
);
const ways = ["host block", "network mirror"] as const;
/** The outputs on the page are of these. */
const versions = { terraform: "1.11.4", tofu: "1.6.2" } as const;

const clients = (await findClients()).filter(({ name, version }) => {
  if (version === versions[name]) return true;
  console.error(`NOT COMPARED: the page is of ${name} ${versions[name]}.`);
  return false;
});
const complete = clients.length === Object.keys(versions).length;

interface Run {
  readonly section: Section;
  readonly client: Client;
  readonly way: (typeof ways)[number];
}

const name = "mirror.example.com";

let scene: WhyScene;
/** Clients reach each mirror by its public name through one of these. */
let proxies: ReadonlyMap<RunningMirror, Proxy>;

beforeAll(async () => {
  if (!complete) return;
  scene = await WhyScene.start({
    publicUrl: `https://${name}/`,
    listen: { port: 0, names: [name] },
  });
  const routed = [scene.mirror, scene.guarded].map(async (mirror) => {
    const routes = { [`${name}:443`]: new URL(mirror.url).host };
    return [mirror, await startProxy({ routes })] as const;
  });
  proxies = new Map(await Promise.all(routed));
}, 60_000);

afterAll(async () => {
  if (!complete) return;
  await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
  await scene.stop();
});

it.runIf(complete)(
  "the page has what the clients print",
  async () => {
    const runs = sections.flatMap((section) =>
      clients.flatMap((client) =>
        ways
          .filter((way) => section.module === undefined || way === "host block")
          .map((way): Run => ({ section, client, way })),
      ),
    );
    const atOnce = pLimit(2);
    const outputs = await Promise.all(
      runs.map(async (run) => [run, await atOnce(() => init(run))] as const),
    );
    const page = renderPage(outputs);
    if (process.env.PROVENDER_WRITE_DOCS === "1") writeFileSync(file, page);
    expect(readFileSync(file, "utf8")).toBe(page);
    for (const [{ title, words }, text] of partsOf(outputs))
      for (const one of words)
        expect(text.replaceAll(/\s+/g, " "), title).toContain(one);
    expect(page).not.toMatch(/canary|127\.0\.0\.1|\/tmp\//);
  },
  240_000,
);

/** Runs a client and returns its output without the parts that vary. */
async function init({ section, client, way }: Run): Promise<string> {
  const directory = scratch("troubles");
  const round =
    rounds[clients.indexOf(client) * 2 + ways.indexOf(way)] ?? rounds[0];
  const hostname = section.hostname.replace("1.", `${round}.`);
  const mirror = section.guarded === true ? scene.guarded : scene.mirror;
  await writeWanted(directory, section, hostname);
  const cliConfig = configure(mirror, section, hostname, way);
  const caFile = join(scratch("ca"), "ca.pem");
  await writeFile(caFile, await readFile(mirror.caFile));
  const ran = await runClient(client, ["init", "-no-color"], {
    directory,
    cliConfig,
    caFile,
    env: { HTTPS_PROXY: proxies.get(mirror)?.url ?? "" },
  });
  return normalize(`${ran.stdout}${ran.stderr}`, new URL(mirror.url).host);
}

async function writeWanted(
  directory: string,
  { name, version, module }: Section,
  hostname: string,
): Promise<void> {
  const source = `${hostname}/${name}`;
  if (module !== undefined) {
    const call = `module "wanted" {\n  source  = "${source}"\n  version = "${module}"\n}\n`;
    await writeFile(join(directory, "main.tf"), call);
    return;
  }
  const wanted =
    version === undefined ? { source } : { source, version: `= ${version}` };
  await writeConfiguration(directory, { wanted });
}

function configure(
  { url }: RunningMirror,
  { token }: Section,
  hostname: string,
  way: Run["way"],
): string {
  const isHost = way === "host block";
  const secret = token === undefined ? undefined : secretOf(token);
  const asked = isHost ? hostname : new URL(url).host;
  const method = isHost
    ? hostConfig(hostname, {
        "providers.v1": `${url}v1/providers/${hostname}/`,
        "modules.v1": `${url}v1/modules/${hostname}/`,
      })
    : networkMirrorConfig(`${url}providers/`);
  return secret === undefined
    ? method
    : `${method}${credentialsConfig(asked, secret)}`;
}

function secretOf(token: NonNullable<Section["token"]>): string {
  return token === "wrong" ? "wrong" : tokens[token].token;
}

/** Ports, times, keys and digests are others each time. */
function normalize(output: string, place: string): string {
  return output
    .replaceAll(place, name)
    .replaceAll(/127\.0\.0\.1:\d+/g, "registry.internal")
    .replaceAll(/(slow|down)\d\.example/g, "$1.example")
    .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, "2026-11-28T10:00:00.000Z")
    .replaceAll(/\b[0-9A-F]{40}\b/g, "C874011F0AB405110D02105534365D9472D7468F")
    .replaceAll(/\b[0-9A-F]{16}\b/g, "34365D9472D7468F")
    .replaceAll(/[ \t]+$/gm, "")
    .trim();
}

type Outputs = readonly (readonly [Run, string])[];

/** Each section with its outputs. */
function partsOf(
  outputs: Outputs,
  shorten: (output: string) => string = (output) => output,
): readonly (readonly [Section, string])[] {
  return sections.map((section) => {
    const own = outputs.filter(([run]) => run.section === section);
    const blocks = own.map(
      ([{ client, way }, output]) =>
        `${client.name === "tofu" ? "OpenTofu" : "Terraform"} ${client.version}, ${way}:\n\n\`\`\`text\n${shorten(output)}\n\`\`\`\n`,
    );
    return [section, blocks.join("\n")];
  });
}

function renderPage(outputs: Outputs): string {
  const words = [...new Set(sections.flatMap((section) => section.words))];
  const list = words.map((one) => {
    const meant = sections.filter((section) => section.words.includes(one));
    return `- \`${one}\`: ${meant.map(linkTo).join("; ")}\n`;
  });
  const parts = partsOf(outputs, excerpt).map(
    ([{ title, cause }, text]) => `## ${title}\n\n${cause}\n\n${text}`,
  );
  return `${introduction}\n${list.join("")}\n${parts.join("\n")}`;
}

/** As GitHub and other readers of Markdown name a heading. */
function linkTo({ title }: Section): string {
  const anchor = title.toLowerCase().replaceAll(/[^a-z -]/g, "");
  return `[${title}](#${anchor.replaceAll(" ", "-")})`;
}

const introduction = `# Troubleshooting

Look for the words that your client prints. Behind a \`host\` block clients print the reason that the mirror gives; behind a
network mirror they print it for 5xx alone (and OpenTofu for archives), so that for the rest the page \`/why/HOSTNAME/NAMESPACE/TYPE[/VERSION]\` of the mirror and
\`provender explain NAMESPACE/TYPE@VERSION --mirror URL\` tell it. Of what real clients print, each message has
its first lines here; the mirror is \`https://mirror.example.com/\`.
`;
