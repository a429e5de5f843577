import { expect } from "vitest";
import { all, alteredByte, json, onlyFor, status } from "../fakes/faults.ts";
import type { PublishOptions, Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import type { Signer } from "../fakes/signing.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { awaitHit } from "./log-lines.ts";
import { eventually, requestsFor, runCommand } from "./provider-requests.ts";
import { signer } from "./trust-scene.ts";
import { moduleHost, startOrigins } from "./world.ts";

export const host = "registry.terraform.io";
/** Something that clients do not get as asked, and the code of the answer; none where they get it all the same. */
interface WhyCase {
  /** Path as in `/why/…`. */
  readonly path: string;
  readonly code?: string;
  /** Parts of the reasons. */
  readonly says: RegExp;
  readonly headline?: RegExp;
}

const acme = `${host}/acme`;

/** Each is another cause, through a mirror that asks. */
const causes: Readonly<Record<string, WhyCase>> = {
  served: {
    path: `${acme}/partly/1.0.0`,
    headline: /^Clients get it$/,
    says: /signed with the key [0-9A-F]{40}/,
  },
  "a content that was revoked": {
    path: `${acme}/withdrawn/1.0.0`,
    code: "content-revoked",
    headline: /^This mirror refuses it$/,
    says: /its content \(SHA256SUMS [0-9a-f]{64}\) was revoked by \S+ on \S+ for \S+: it was wrong/,
  },
  "denied by a rule": {
    path: `${acme}/denied`,
    code: "policy-denied",
    says: /denied by "policy\.rules\[0\]"/,
  },
  "too young": {
    path: `${acme}/young/1.0.0`,
    code: "too-young",
    says: /held back by "policy\.rules\[2\]\.minimumAge" of this mirror until 20\d\d-/,
  },
  "every version too young": {
    path: `${acme}/young`,
    code: "nothing-admitted",
    says: /leaves out, too young: 1\.0\.0 \(until 20\d\d-/,
  },
  "held back because of its key": {
    path: `${acme}/held/1.1.0`,
    code: "key-refused",
    says: /signing key [0-9A-F]{40} is not known for this provider/,
  },
  "re-created": {
    path: `${acme}/recreated/1.0.0`,
    says: /1\.0\.0 is offered as a candidate .*other content than the pinned checksums.*trust approve .*@1\.0\.0 [0-9a-f]{16}/,
  },
  tampered: {
    path: `${acme}/tampered/1.0.0`,
    code: "archive-digest",
    says: /terraform-provider-tampered_1\.0\.0_linux_amd64\.zip is refused \(expected SHA-256/,
  },
  "a provider whose one archive is tampered": {
    path: `${acme}/tampered`,
    code: "archive-digest",
    headline: /^1\.0\.0 is refused$/,
    says: /terraform-provider-tampered_1\.0\.0_linux_amd64\.zip is refused \(expected SHA-256/,
  },
  "re-created before its archive was stored": {
    path: `${acme}/recreated-early/1.0.0`,
    code: "checksum-conflict",
    says: /expected SHA-256 .*, the registry says/,
  },
  "an archive that is not stored and cannot be had": {
    path: `${acme}/broken/1.0.0`,
    code: "origin-status",
    says: /503/,
  },
  "a provider whose newest version is held back": {
    path: `${acme}/held`,
    headline: /^1\.0\.0 is served; 1\.1\.0 is held back \(.*signing key/,
    says: /Clients get 1 of its versions/,
  },
  "an archive that is stored, and another platform's that cannot be had": {
    path: `${acme}/partly-away/1.0.0`,
    headline: /^Clients get it, but not on darwin_arm64$/,
    says: /darwin_arm64\.zip is not stored: .* status 503/,
  },
  "an archive that cannot be had, and another platform's that can": {
    path: `${acme}/away-here/1.0.0`,
    code: "origin-status",
    headline: /^Clients get it, but not on linux_amd64$/,
    says: /status 503/,
  },
  "prereleases alone": {
    path: `${acme}/beta`,
    code: "no-version",
    headline: /^It has no version but prereleases/,
    says: /Clients get|This mirror lists/,
  },
  "a registry that lists no version": {
    path: `${acme}/empty`,
    code: "not-found",
    headline: /^There is no such thing$/,
    says: /lists no version of it/,
  },
  "an unknown name": {
    path: `${acme}/partli`,
    code: "not-found",
    says: /acme\/partli does not exist/,
  },
  "a hostname that is not served": {
    path: "registry.terraform.oi/acme/partly",
    code: "origin-not-served",
    says: /does not serve registry\.terraform\.oi/,
  },
  "an origin that is down": {
    path: "down.example.com/acme/demo",
    code: "origin-unreachable",
    says: /could not be reached/,
  },
  "a module that is passed through": {
    path: `${moduleHost}/acme/far/aws/1.0.0`,
    says: /passed through/,
  },
  "a module denied by a rule": {
    path: `${moduleHost}/acme/denied/aws/1.0.0`,
    code: "policy-denied",
    says: /denied by "policy\.rules\[3\]"/,
  },
  "a module that is too young": {
    path: `${moduleHost}/acme/young/aws/1.0.0`,
    code: "too-young",
    says: /gives this version a rule with "minimumAge: 0"/,
  },
  "a module whose newest version cannot be had": {
    path: `${moduleHost}/acme/broken/aws`,
    code: "origin-status",
    headline: /^1\.1\.0 cannot be had$/,
    says: /status 404/,
  },
};

export const cases = Object.entries(causes).map(([title, one]) => ({
  ...{ title, ...one },
}));

/** What a mirror whose disk is full answers of what it has not stored. */
export const onFullDisk: (typeof cases)[number] = {
  title: "a full disk",
  path: `${acme}/partly/1.0.0`,
  code: "store-full",
  headline: /^Clients do not get it now$/,
  says: /The mirror cannot store the archive \(its disk is full/,
};

/** A mirror in front of origins with every fault, and one whose disk is full. */
export async function startWhyScene() {
  const { authority, registry, modules, config } = await startOrigins();
  const { origins } = config;
  for (const name of ["far", "denied", "young", "broken"])
    modules.publish(`acme/${name}/aws`, "1.0.0", "hg::https://hg.example.com/");
  modules.publish("acme/broken/aws", "1.1.0", `${modules.url}none.tar.gz`);
  const directory = scratch("full");
  const [mirror, full] = await Promise.all([
    startMirror({
      config: {
        origins: {
          ...origins,
          "down.example.com": { url: "https://127.0.0.1:1/" },
        },
        freshness: { versions: "0" },
        policy: { rules },
      },
    }),
    startMirror({
      directory,
      config: { origins, storage: { directory, minFree: "900TiB" } },
    }),
  ]);
  const own = await signer("own");
  await prepare(mirror, registry, own);
  return { authority, registry, mirror, full };
}

/** Has the mirror meet what its registry publishes, changes and loses. */
async function prepare(mirror: RunningMirror, registry: Registry, own: Signer) {
  const old = new Date("2024-01-01T00:00:00Z");
  const common = { version: "1.0.0", signer: own, signedAt: old };
  const away = ["darwin_arm64", "linux_amd64"];
  const published: Readonly<Record<string, Partial<PublishOptions>>> = {
    ...{ denied: {}, partly: {}, held: {}, withdrawn: {}, broken: {} },
    tampered: { size: 9 * 1024 * 1024 },
    young: { signedAt: new Date() },
    beta: { version: "1.0.0-rc1" },
    empty: {},
    ...{ "partly-away": { platforms: away }, "away-here": { platforms: away } },
    ...{ recreated: {}, "recreated-early": {} },
  };
  const releases = new Map<string, Release>();
  for (const [type, more] of Object.entries(published))
    releases.set(type, await registry.publish({ ...common, type, ...more }));
  const publishAgain = (type: string) =>
    registry.republish(releases.get(type) ?? expect.fail());
  await registry.publish({ ...common, type: "partly", version: "2.0.0" });
  const none = json(() => ({ versions: [] }));
  registry.script("versions", onlyFor(/\/empty\//, none));
  // Else it would be fetched and hashed behind the first answer.
  const unavailable = onlyFor(
    /broken|early|partly-away.*darwin|away-here.*linux/,
    status(503),
  );
  registry.script("archive", unavailable);
  await eventually(
    () => requestsFor(mirror, "recreated-early").version("1.0.0"),
    ({ status }) => status === 200,
  );
  await publishAgain("recreated-early");
  for (const type of ["partly", "held", "recreated", "withdrawn"])
    await requestsFor(mirror, type).version("1.0.0");
  await requestsFor(mirror, "partly-away").archive("1.0.0");
  for (const type of ["recreated", "partly-away"])
    await awaitHit(
      mirror,
      `/providers/${acme}/${type}/terraform-provider-${type}_1.0.0_linux_amd64.zip`,
    );
  const content = ["acme/withdrawn@1.0.0", "--because", "it was wrong"];
  await runCommand(mirror, "trust", "revoke", ...content);
  const other = await signer("other");
  const next = { ...common, version: "1.1.0", signer: other };
  await registry.publish({ ...next, type: "held" });
  await publishAgain("recreated");
  await requestsFor(mirror, "recreated").version("1.0.0");
  const tampers = onlyFor(/tampered/, alteredByte());
  registry.script("archive", all(tampers, unavailable));
  await requestsFor(mirror, "tampered").archive("1.0.0");
}

const rules = [
  { match: `${acme}/denied`, action: "deny" },
  { match: `${acme}/partly`, action: "deny", versions: ">= 2.0" },
  { match: `${acme}/young`, action: "allow", minimumAge: "7d" },
  { match: `${moduleHost}/acme/denied/aws`, action: "deny" },
  {
    match: `${moduleHost}/acme/young/aws`,
    ...{ action: "allow", minimumAge: "7d" },
  },
];
