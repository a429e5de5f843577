import { expect, it } from "vitest";
import { issueToken } from "../../client-token.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  digestsIn,
  digestsOf,
  readAudit,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { moduleHost, startOrigins } from "../../scenes/world.ts";

const host = "registry.opentofu.org";
const { token, configured } = issueToken("edge");

const { registry, modules, ca } = await startOrigins();
/** Takes unsigned releases, and lets only clients with a token in. */
const central = await startMirror({
  config: {
    origins: {
      [host]: { url: registry.url, ca, signatures: "off" },
      [moduleHost]: { url: modules.url, ca },
    },
    auth: { tokens: [configured] },
  },
});
const behind = (hostname: string) => ({
  url: `${central.url}registry/${hostname}/`,
  ca: central.caFile,
  token: { env: "EDGE_TOKEN" },
});
const edge = await startMirror({
  config: {
    origins: { [host]: behind(host), [moduleHost]: behind(moduleHost) },
    freshness: { versions: "0" },
  },
  env: { EDGE_TOKEN: token },
});

it("a mirror whose origins are registries below a path of another mirror serves what the publisher signed, which it verifies for itself, and modules", async () => {
  const release = await registry.publish({ type: "signed", version: "1.0.0" });
  const ask = requestsFor(edge, "signed", "acme", host);
  expect(await ask.listed()).toEqual(["1.0.0"]);
  expect(digestsIn(await ask.version("1.0.0"))).toEqual(digestsOf(release));
  const { body } = await ask.archive("1.0.0");
  expect(body.equals(release.archive("linux_amd64").bytes)).toBe(true);
  const seen = readAudit(edge).find(({ event }) => event === "first-seen");
  expect(seen?.fingerprint).toBe(release.signer.fingerprint.toUpperCase());

  // What the other one takes without a signature.
  const unsigned = { signingKeys: [], signature: "unlisted" } as const;
  await registry.publish({ type: "unsigned", version: "1.0.0", ...unsigned });
  const near = requestsFor(edge, "unsigned", "acme", host);
  for (const way of ["outcome", "delivery"] as const)
    expect(await near[way]("1.0.0")).toMatch(/^451 /);

  const bytes = await tarGz([["main.tf", "# a module"]]);
  const url = modules.serve("/files/network.tgz", bytes);
  modules.publish("acme/network/aws", "1.0.0", url);
  const base = `/v1/modules/${moduleHost}/acme/network/aws/1.0.0`;
  const { headers } = await edge.get(`${base}/download`);
  const place = new URL(String(headers["x-terraform-get"]), edge.url);
  expect(place.host).toBe(new URL(edge.url).host);
  expect((await edge.get(place.pathname)).body.equals(bytes)).toBe(true);
});
