import { dirname } from "node:path";
import { expect, it } from "vitest";
import { makeRouter, type AppParts } from "../../src/server/app.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { bearer, issueToken } from "../client-token.ts";
import { alteredByte, onlyFor } from "../fakes/faults.ts";
import { startIssuer } from "../fakes/issuer.ts";
import { startLooseBucket } from "../fakes/loose-bucket.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { scratch, startMirror, type Answer } from "../running-mirror.ts";
import { awaitLine } from "../scenes/log-lines.ts";
import { moduleHost, startOrigins } from "../scenes/world.ts";
import { askDatabase, readRecord } from "../store/stores.ts";

const host = "registry.terraform.io";
const asker = issueToken("asker");
const other = issueToken("canary-name-of-somebody-else");
const old = issueToken("canary-name-of-an-old-one", new Date("2020-01-01"));
/** Secrets that the daemon has from its environment and configuration. */
const env = {
  ORIGIN_TOKEN: "canary-origin-token",
  MODULE_TOKEN: "canary-module-token",
  BUCKET_SECRET: "canary-bucket-secret",
};
const accessKeyId = "CANARYBUCKETKEY";
const given = [...Object.values(env), accessKeyId];

const { authority, registry, modules, ca } = await startOrigins();
const bucket = await startLooseBucket();
const issuer = await startIssuer(authority);
const directory = scratch("canary-store");
const secretAccessKey = { env: "BUCKET_SECRET" };
const oidc = { issuer: issuer.url, audience: "x", clientId: "y", ca };
const mirror = await startMirror({
  ...{ directory, env },
  config: {
    listen: { port: 0, tls: "off" },
    publicUrl: "https://mirror.example.com/",
    storage: {
      directory,
      s3: { ...bucket.settings, accessKeyId, secretAccessKey },
    },
    origins: {
      [host]: { url: registry.url, ca, token: { env: "ORIGIN_TOKEN" } },
      [moduleHost]: { url: modules.url, ca, token: { env: "MODULE_TOKEN" } },
    },
    auth: { tokens: [asker, other, old].map((one) => one.configured), oidc },
    policy: { rules: [{ match: `${host}/acme/denied`, action: "deny" }] },
    freshness: { versions: "0" },
  },
});

/** Paths of the router, for each type or name. */
function pathsOf(...types: readonly string[]): readonly string[] {
  const rows = makeRouter({} as AppParts).stack;
  const paths = types.flatMap((type) => [
    ...rows.map((row) =>
      row.url({
        hostname: row.paramNames.some(({ name }) => name === "system")
          ? moduleHost
          : host,
        ...{ namespace: "acme", type, name: type, system: "aws" },
        ...{ version: "1.0.0", os: "linux", arch: "amd64", format: "tar.gz" },
        proof: "SHA256SUMS",
        archive: `terraform-provider-${type}_1.0.0_linux_amd64`,
      }),
    ),
    `/providers/${host}/acme/${type}/malformed.json`,
    `/browse?provider=${host}/acme/${type}`,
    `/browse?module=${moduleHost}/acme/${type}/aws`,
  ]);
  return [...new Set([...paths, "/browse?q=canary", "/nothing"])];
}

// The mirror has requests of another token, whose name the log then has.
for (const type of ["good", "denied", "tampered", "damaged"])
  await registry.publish({ type, version: "1.0.0" });
registry.script("archive", onlyFor(/tampered/, alteredByte()));
const url = modules.serve("/net.tar.gz", await tarGz([["main.tf", "# net"]]));
modules.publish("acme/good/aws", "1.0.0", `${url}?token=canary-of-the-query`);
const far = "hg::https://hg.example.com/far?token=canary-that-clients-need";
modules.publish("acme/far/aws", "1.0.0", far);
for (const path of pathsOf("good", "tampered", "damaged"))
  await mirror.get(path, bearer(other.token));
askDatabase(
  layOutStore(directory),
  "UPDATE releases SET body = '{}' WHERE type = 'damaged'",
);

const urlKey = readRecord(directory, ["secrets", "archive-urls"]) as {
  secret: string;
};
/** The secrets, and the paths and names that only the operator may see. */
const secrets = [
  ...given,
  urlKey.secret,
  ...[asker, other, old].flatMap(({ token, configured }) => [
    ...[token, configured.sha256],
  ]),
  ...[other, old].map(({ configured }) => configured.name),
  "canary-of-the-query",
  directory,
  dirname(mirror.configFile),
  new URL("../../src", import.meta.url).pathname,
];

/** All that is sent, also in the names and texts that URLs and HTML write otherwise. */
function textOf({ reason, headers, body }: Answer): string {
  const text = `${reason}\n${JSON.stringify(headers)}\n${body.toString()}`;
  const tickets = text.match(/(?<=\d{13}\.)[\w-]+(?=\.[\w-]{43}\/)/g) ?? [];
  const holders = tickets.map((one) =>
    Buffer.from(one, "base64url").toString(),
  );
  return [text, ...holders].join("\n");
}

/** The statuses of answers to all that can be asked, of which none tells a secret. */
async function expectNoLeak(): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  const leaks: string[] = [];
  const { headers: known } = bearer(asker.token);
  // The unknown one first: an origin that failed some times is not asked.
  const types = ["unknown", "good", "denied", "tampered", "damaged", "far"];
  const asked = [
    ...pathsOf(...types).map((path) => ({ path, headers: known })),
    ...pathsOf("good").flatMap((path) =>
      [
        {},
        { accept: "text/html" },
        bearer("wrong").headers,
        bearer(old.token).headers,
        { ...known, accept: "application/json" },
      ].map((headers) => ({ path, headers })),
    ),
  ];
  const look = async ({ path, headers }: (typeof asked)[number]) => {
    const answer = await mirror.get(path, { headers: { ...headers } });
    statuses.add(answer.status);
    const text = textOf(answer);
    for (const secret of secrets)
      if (secret.length < 8 || text.includes(secret))
        leaks.push(`${path}: ${answer.status} tells ${secret}`);
  };
  for (let at = 0; at < asked.length; at += 10)
    await Promise.all(asked.slice(at, at + 10).map(look));
  expect(leaks).toEqual([]);
  return statuses;
}

it("no page, document, phrase, error or number tells a secret, a path of the machine or the name of another's token", async () => {
  const statuses = await expectNoLeak();
  // Every kind of answer was among them.
  expect([...statuses]).toEqual(
    expect.arrayContaining([200, 400, 401, 404, 451, 503]),
  );
  expect(mirror.log.map(({ token }) => token)).toContain(other.configured.name);
  const log = JSON.stringify(mirror.log);
  expect(log).toContain("listen.tls is off: tokens can be read on the way");
  for (const secret of [...given, asker.token, other.token])
    expect(log).not.toContain(secret);
});

it("tells none of them either once its bucket and its origins are gone", async () => {
  bucket.stop();
  await Promise.all([registry.stop(), modules.stop()]);
  await awaitLine(mirror, ({ alarm }) => alarm === "bucket-failing");
  const statuses = await expectNoLeak();
  expect([...statuses]).toEqual(expect.arrayContaining([200, 502]));
  await registry.restart();
});
