import { afterAll, beforeAll, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import { connectedSite, type Site } from "../../mirror/bundles/bundles.ts";
import { originsOf } from "../../origins.ts";
import { issueToken } from "../../client-token.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { expectDocument } from "../documents.ts";

const platforms = ["darwin_arm64", "linux_amd64"];
const ci = issueToken("ci");

/** Two sites, each with an origin of its own that should show the same. */
let here: Registry;
let there: Registry;
let site: Site;
let other: RunningMirror;
let closed: RunningMirror;
let recreated: Release;

beforeAll(async () => {
  const authority = await createAuthority();
  here = await startRegistry({ authority });
  there = await startRegistry({ authority });
  const publish = async (type: string, version = "1.0.0") => {
    const release = await here.publish({ type, version, platforms });
    there.offer(release);
    return release;
  };
  await publish("same");
  await publish("same", "1.1.0");
  await publish("recreated");
  await publish("denied");
  await here.publish({ type: "absent", version: "1.0.0" });
  await here.publish({ type: "narrow", version: "1.0.0", platforms });
  await there.publish({ type: "narrow", version: "1.0.0" });
  recreated = await here.republish(await publish("recreated", "1.1.0"));
  const rules = [
    { match: "registry.terraform.io/acme/denied", action: "deny" },
  ];
  const origins = originsOf(authority, there);
  other = await startMirror({ config: { ...origins, policy: { rules } } });
  const auth = { tokens: [ci.configured] };
  closed = await startMirror({ config: { ...origins, auth } });
  site = connectedSite(authority, here);
  const types = ["same", "recreated", "denied", "absent", "narrow"];
  const specs = types.map((type) => `acme/${type}@all`);
  const fetched = await site.run(
    "prefetch",
    "--platform",
    "linux_amd64",
    ...specs,
  );
  expect(fetched.status).toBe(0);
});
afterAll(async () => {
  await Promise.all([other.stop(), closed.stop()]);
  await Promise.all([here.stop(), there.stop()]);
});

interface Comparison {
  readonly compared: number;
  readonly differences: readonly object[];
  readonly uncompared: readonly { readonly because: string }[];
}

const run = (...args: readonly string[]) =>
  site.run("compare", "--with", other.url, "--ca", other.caFile, ...args);

async function compare(...specs: readonly string[]) {
  const { status, stdout } = await run("--json", ...specs);
  const document = expectDocument("compare", stdout) as Comparison;
  return { status, ...document };
}

it("finds that two sites were shown the same", async () => {
  const found = await compare("acme/same");
  expect(found).toMatchObject({ status: 0, compared: 4, differences: [] });
  expect((await run("acme/same")).stdout).toMatch(
    /^4 packages compared with \S+: 0 differ; 0 could not be compared\.$/m,
  );
});

it("names what they were shown differently, with both digests", async () => {
  const found = await compare("acme/recreated");
  expect([found.status, found.compared]).toEqual([1, 4]);
  const digests = platforms.map((platform) => recreated.archive(platform));
  expect(found.differences).toEqual(
    digests.map(({ platform, sha256, filename }) => ({
      provider: "registry.terraform.io/acme/recreated",
      ...{ version: "1.1.0", platform, filename, sha256 },
      firstSeen: expect.stringMatching(/Z$/) as string,
      there: expect.not.stringMatching(sha256) as string,
    })),
  );
  const { stdout } = await run("acme/recreated");
  for (const { sha256 } of digests) expect(stdout).toContain(`zh:${sha256}`);
});

it("says what the other one does not have, and compares the rest", async () => {
  const narrow = await compare("acme/narrow", "acme/same@1.1.0");
  expect(narrow.uncompared).toMatchObject([
    {
      platform: "darwin_arm64",
      because: "it has none for the platform",
      failed: false,
    },
  ]);
  expect(narrow).toMatchObject({ compared: 3 });
  const absent = await compare("acme/absent", "acme/same");
  expect(absent).toMatchObject({ status: 0, compared: 4 });
  expect(absent.uncompared).toMatchObject([
    { because: "it does not have the release", failed: false },
  ]);
});

it.each(["acme/absent", "acme/denied", "acme/unheard-of"])(
  "has status 1 where nothing could be compared: %s",
  async (spec) => {
    const found = await compare(spec);
    expect(found).toMatchObject({ status: 1, compared: 0, differences: [] });
  },
);

it("has status 1 when the other one refuses something, which is named", async () => {
  const found = await compare("acme/same", "acme/denied");
  expect(found).toMatchObject({ status: 1, compared: 4, differences: [] });
  expect(found.uncompared).toMatchObject(
    platforms.map((platform) => ({ platform, failed: true })),
  );
});

it("compares everything that is held without a SPEC", async () => {
  const found = await compare();
  expect([found.status, found.differences.length]).toEqual([1, 2]);
  expect(found.compared + found.uncompared.length).toBe(13);
});

it("says so when the other one cannot be asked at all", async () => {
  const tokenless = await site.run(
    "compare",
    "--with",
    closed.url,
    "--ca",
    closed.caFile,
  );
  expect(tokenless.stderr).toContain("wants a token");
  const strange = await site.run("compare", "--with", other.url);
  expect(strange.stderr).toContain("could not be reached");
  const nowhere = await site.run("compare", "--with", "http://a.example/");
  for (const { stdout } of [tokenless, strange, nowhere])
    expect(stdout).toBe("");
  const runs = [tokenless, strange, nowhere];
  expect(runs.map(({ status }) => status)).toEqual([1, 1, 2]);
});
