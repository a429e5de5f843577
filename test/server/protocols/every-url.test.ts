import { expect, it } from "vitest";
import { bearer, issueToken } from "../../client-token.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { startMirror, type Answer } from "../../running-mirror.ts";
import { startOrigins } from "../../scenes/world.ts";

const ci = issueToken("ci");
const base = "https://mirror.example.com/tools/";
const listen = { port: 0, tls: "off", trustedProxies: ["127.0.0.1"] };
const forwarded = { "x-forwarded-for": "192.0.2.1" };

/** Ways in which a mirror is deployed: its configuration, the headers that a proxy adds, and its URL for clients where that is another. */
const deployments: Readonly<
  Record<
    string,
    { config?: object; headers?: Record<string, string>; base?: string }
  >
> = {
  "over TLS": {},
  "with a publicUrl that has a path, behind a proxy": {
    config: { publicUrl: base.slice(0, -1), listen },
    headers: { ...forwarded, host: "127.0.0.1" },
    base,
  },
  "below a path of a trusted proxy": {
    config: { listen },
    headers: { ...forwarded, host: "mirror.example.com" },
    base,
  },
  "below a path of a proxy that is not known": {
    headers: { host: "localhost", via: "1.1 proxy" },
    base: "https://localhost/tools/",
  },
  "with tokens": {
    config: { auth: { tokens: [ci.configured] } },
    headers: bearer(ci.token).headers,
  },
};

const host = "providers.example.com";
const modules = "registry.terraform.io";

const { registry, modules: origin, ca } = await startOrigins();
await registry.publish({ type: "demo", version: "1.0.0" });
const bytes = await tarGz([["main.tf", "# a module"]]);
const url = origin.serve("/files/network.tgz", bytes);
origin.publish("acme/network/aws", "1.0.0", url);
const origins = {
  [modules]: { url: origin.url, ca },
  [host]: { url: registry.url, ca },
};

const demo = `${host}/acme/demo`;
const network = `${modules}/acme/network/aws`;
const ofProvider = ["versions", "1.0.0", "1.0.0/download/linux/amd64"];
const ofModule = ["versions", "1.0.0", "1.0.0/download"];

/** Every document of every face; those that give no further one are reached from these. */
const documents: readonly string[] = [
  ".well-known/terraform.json",
  `registry/${host}/.well-known/terraform.json`,
  `registry/${modules}/.well-known/terraform.json`,
  `providers/${demo}/index.json`,
  `providers/${demo}/1.0.0.json`,
  ...[
    `v1/providers/${demo}`,
    `registry/${host}/v1/providers/acme/demo`,
  ].flatMap((place) => ofProvider.map((rest) => `${place}/${rest}`)),
  ...[
    `v1/modules/${network}`,
    `registry/${modules}/v1/modules/acme/network/aws`,
    "v1/modules/acme/network/aws",
  ].flatMap((place) => ofModule.map((rest) => `${place}/${rest}`)),
  "",
  "browse",
  "browse?q=acme",
  `browse?provider=${demo}`,
  `browse?module=${network}`,
  "decisions",
  `why/${demo}`,
  `why/${demo}/1.0.0`,
  `why/${network}/1.0.0`,
];

/** URLs and paths in JSON, and names of archives, which VERSION.json has bare; what a page leads to, and headers. */
function linksOf({ headers, body }: Answer): readonly string[] {
  const isJson = headers["content-type"] === "application/json";
  const links = isJson
    ? /(?<!"filename":)"((?:[a-z][a-z\d+.-]*:\/\/|\.{0,2}\/)[^"]*|[^"/]+\.zip)"/gi
    : /\s(?:href|src|action)="([^"]*)"/g;
  return [
    ...Array.from(body.toString().matchAll(links), ([, link = ""]) =>
      link.replaceAll("&amp;", "&"),
    ),
    ...[headers.location, headers["x-terraform-get"]].flatMap((link) =>
      typeof link === "string" ? link : [],
    ),
  ];
}

type Ask = (path: string, isFile?: boolean) => Promise<Answer>;

/** Follows every URL of every document to the end; returns how many there were. */
async function walk(base: string, ask: Ask): Promise<number> {
  const seen = new Set<string>();
  const left = [...documents];
  let followed = 0;
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const answer = await ask(path);
    expect([path, answer.status < 300]).toEqual([path, true]);
    for (const link of linksOf(answer)) {
      if (link.startsWith("#")) continue;
      const { href } = new URL(link, `${base}${path}`);
      expect([path, link, href.startsWith(base)]).toEqual([path, link, true]);
      followed++;
      if (seen.has(href)) continue;
      seen.add(href);
      const to = href.slice(base.length);
      // A service is a prefix, and a page leads on.
      if (/(?:providers|modules)(?:\/[\w.]+)?\/$/.test(to)) continue;
      const isPage = /^(?:$|[?]|browse|decisions|why)/.test(to);
      if (isPage && !documents.includes(to)) left.push(to);
      const isFile = /\.(?:zip|gz|sig)$|SHA256SUMS$/.test(to);
      expect([to, (await ask(to, isFile)).status]).toEqual([to, 200]);
    }
  }
  return followed;
}

it.each(Object.entries(deployments))(
  "every URL of every document leads to this mirror, and something is there, %s",
  async (_, { config, headers = {}, base }) => {
    const mirror = await startMirror({ config: { origins, ...config } });
    // Clients send no token for a file.
    const ask: Ask = (path, isFile = false) =>
      mirror.get(`/${path}`, isFile ? {} : { headers });
    expect(await walk(base ?? mirror.url, ask)).toBeGreaterThan(50);
  },
);
