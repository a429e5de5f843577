import {
  formatPlatform,
  type Platform,
} from "../../../src/address/platform.ts";
import {
  isVersion,
  newestFirst,
  type Version,
} from "../../../src/address/version.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { scratch, startMirror, type Answer } from "../../running-mirror.ts";
import { watchLoopSteps } from "../../scenes/loop-steps.ts";
import {
  outcomeOf,
  readMetric,
  requestsFor,
} from "../../scenes/provider-requests.ts";

const largest = 8 * 2 ** 20;

/** Versions of the largest list that is accepted. */
const mostVersions = 5_000;

const fifteenPlatforms = Array.from({ length: 15 }, (_, n) => ({
  os: `os${n}`,
  arch: "amd64",
}));

function versionsOf(
  count: number,
  entry: (n: number) => object = () => ({ platforms: fifteenPlatforms }),
) {
  const versions = Array.from({ length: count }, (_, n) => ({
    version: `1.${(n * 7_919) % count}.0`,
    protocols: ["5.0"],
    ...entry(n),
  }));
  return { versions };
}

/** For each major version of hashicorp/aws about its minor ones, and its prereleases. */
const majors = [
  [5, 0],
  [61, 0],
  [71, 1],
  [77, 0],
  [68, 2],
  [101, 0],
  [23, 3],
] as const;

const oldPlatforms =
  "darwin_amd64 freebsd_386 freebsd_amd64 freebsd_arm linux_386 linux_amd64 linux_arm openbsd_386 openbsd_amd64 solaris_amd64 windows_386 windows_amd64".split(
    " ",
  );
const newPlatforms = "linux_arm64 freebsd_arm64 darwin_arm64".split(" ");

/**
 * Versions in a registry's list of a provider like hashicorp/aws: some 600 from
 * 0.1.0 on in no order, with prereleases. Protocols and platforms came with the
 * years. `newestFirst` has their names.
 */
function listLargeProvider() {
  const entries = majors.flatMap(([minors, prereleases], major) => {
    const protocols = [["4.0"], ["4.0", "5.0"], ["5.0"]][Math.min(2, major)];
    const later = newPlatforms.slice(0, major);
    const platforms = [...oldPlatforms, ...later].map((name) => {
      const [os, arch] = name.split("_");
      return { os, arch };
    });
    const betas = Array.from(
      { length: prereleases },
      (_, n) => `${major}.0.0-beta${n + 1}`,
    );
    const releases = Array.from({ length: minors }, (_, minor) =>
      Array.from(
        { length: 1 + (minor % 2) },
        (_, patch) => `${major}.${minor}.${patch}`,
      ),
    ).flat();
    const names = major === 0 ? releases.slice(1) : releases;
    const all = [...betas, ...names];
    return all.map((version) => ({ version, protocols, platforms }));
  });
  return {
    newestFirst: entries.map(({ version }) => version).toReversed(),
    // 7 919 is a prime, so each is taken once.
    versions: entries.map((_, n) => entries[(n * 7_919) % entries.length]),
  };
}

/**
 * Fills a document with `item`, up to the limit, between `open` and `close`.
 */
function filledWith(item: string, open = "[", close = "]"): string {
  const room = largest - open.length - close.length - item.length - 2;
  const items = Array<string>(Math.floor(room / (item.length + 1))).fill(item);
  return `${open}${items.join(",")}${close}`;
}

/** Brackets within brackets. */
function nested(): string {
  return `{"versions":${"[".repeat(largest / 2 - 10)}${"]".repeat(largest / 2 - 10)}}`;
}

/** Which document of an origin it is. */
type DocumentKind = "list" | "modules" | "discovery" | "package";

const linux = { os: "linux", arch: "amd64" };

/** `TYPE` stands for the type of the provider. */
function packageWith(more: object): string {
  return JSON.stringify({
    ...linux,
    filename: "terraform-provider-TYPE_1.0.0_linux_amd64.zip",
    download_url: "archive",
    shasums_url: "sums",
    shasums_signature_url: "signature",
    shasum: "a".repeat(64),
    ...more,
  });
}

const armor = `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${"A".repeat(8_000)}`;
const keys = (count: number, key: object) => ({
  signing_keys: { gpg_public_keys: Array(count).fill(key) },
});
/** Its shape is good, and the files that it names are not there. */
const refused = "404 not-found";
const unusable = "502 origin-answer";

/** Which document it is, what it says, and how the mirror answers, as a pattern. */
const largeAnswers: Readonly<
  Record<string, readonly [DocumentKind, () => string, string]>
> = {
  "a flat object for a list": [
    "list",
    () => filledWith('"a":1', "{", "}"),
    unusable,
  ],
  "nested arrays for a list": ["list", nested, unusable],
  "more versions than are taken, for 15 platforms": [
    "list",
    () => JSON.stringify(versionsOf(14_000)),
    unusable,
  ],
  "the longest list for 15 platforms": [
    "list",
    () => JSON.stringify(versionsOf(mostVersions)),
    "200",
  ],
  "the longest list, with lists of platforms that differ": [
    "list",
    () =>
      JSON.stringify(
        versionsOf(mostVersions, (n) => ({
          platforms: Array.from({ length: 5 }, (_, i) => ({
            os: `os${(n + i) % 500}`,
            arch: "amd64",
          })),
        })),
      ),
    "200",
  ],
  "a list of versions for platforms that differ": [
    "list",
    () =>
      JSON.stringify(
        versionsOf(mostVersions, (n) => ({
          platforms: fifteenPlatforms.map((one) => ({ ...one, arch: `a${n}` })),
        })),
      ),
    unusable,
  ],
  "a list with long protocols": [
    "list",
    () =>
      JSON.stringify(versionsOf(100, () => ({ protocols: ["5".repeat(8e4)] }))),
    unusable,
  ],
  "the longest list of a module": [
    "modules",
    () => JSON.stringify({ modules: [versionsOf(mostVersions, () => ({}))] }),
    "200",
  ],
  "a discovery document of many services": [
    "discovery",
    () => filledWith('"a":"b"', "{", "}"),
    unusable,
  ],
  "a package with 1 000 keys": [
    "package",
    () => packageWith(keys(1_000, { ascii_armor: armor })),
    refused,
  ],
  "a package with 100 000 keys": [
    "package",
    () => packageWith(keys(100_000, { ascii_armor: "" })),
    unusable,
  ],
};

const registryHost = "registry.example.com";
const oddHost = "odd.example.com";

let types = 0;

const steps = watchLoopSteps();

/** Number of lists whose mean is taken. */
const coldLists = 20;

const authority = await createAuthority();
const far = await startRegistry({ authority });
far.services = { ...far.services, "modules.v1": "/v1/modules/" };
const odd = await startRegistry({ authority });
const ca = join(scratch("ca"), "ca.pem");
writeFileSync(ca, authority.caPem);
const mirror = await startMirror({
  ...steps.options,
  config: {
    origins: {
      [registryHost]: { url: far.url, ca },
      [oddHost]: { url: odd.url, ca },
    },
  },
  // Answers wait for the end of the work, so that it is measured whole.
  limits: { answer: 55_000 },
});

/** First contact takes the newest release, so that it has to be there. */
async function publishNewest(type: string, document: string): Promise<void> {
  const [version] = newestFirst(readVersions(document));
  if (version === undefined) return;
  const { versions } = JSON.parse(document) as {
    versions: { version: string; platforms?: Platform[] }[];
  };
  const listed = versions.find((one) => one.version === version)?.platforms;
  const platforms = (listed ?? [linux]).map(formatPlatform);
  await far.publish({ type, version, platforms, size: 100 });
}

/** The versions of a list; none of one that is not good. */
function readVersions(document: string): readonly Version[] {
  try {
    const { versions } = JSON.parse(document) as {
      versions: { version: string }[];
    };
    return versions.map(({ version }) => version).filter(isVersion);
  } catch {
    return [];
  }
}

const ask: Readonly<
  Record<DocumentKind, (document: string) => Promise<Answer>>
> = {
  async list(document) {
    const type = nextType();
    await publishNewest(type, document);
    far.serve(`/v1/providers/acme/${type}/versions`, document);
    return requestsFor(mirror, type, "acme", registryHost).index();
  },
  modules(document) {
    const type = nextType();
    far.serve(`/v1/modules/acme/${type}/aws/versions`, document);
    return mirror.get(`/v1/modules/${registryHost}/acme/${type}/aws/versions`);
  },
  discovery(document) {
    odd.serve("/.well-known/terraform.json", document);
    return requestsFor(mirror, nextType(), "acme", oddHost).index();
  },
  package(document) {
    const type = nextType();
    const folder = `/v1/providers/acme/${type}`;
    far.serve(
      `${folder}/versions`,
      JSON.stringify(versionsOf(1, () => ({ platforms: [linux] }))),
    );
    far.serve(
      `${folder}/1.0.0/download/linux/amd64`,
      document.replace("TYPE", type),
    );
    return requestsFor(mirror, type, "acme", registryHost).version("1.0.0");
  },
};
// Code that runs for the first time is slower than it will ever be again.
for (let round = 0; round < 3; round++)
  await ask.list(JSON.stringify(versionsOf(mostVersions)));

function nextType(): string {
  return `large${++types}`;
}

/** Milliseconds for which one document at a limit may hold the event loop. */
const longestStep = 1_000;

describe("a document at a limit does not hold the event loop for a second", () => {
  it.each(Object.entries(largeAnswers))(
    "%s",
    { timeout: 120_000 },
    async (name, [kind, make, outcome]) => {
      const document = make();
      expect(document.length).toBeLessThanOrEqual(8 * 2 ** 20);
      steps.restart();
      const answer = await ask[kind](document);
      const step = steps.longest();
      console.info(name, `${step.toFixed(0)} ms`);
      expect(outcomeOf(answer)).toMatch(new RegExp(`^(${outcome})$`));
      expect(step).toBeLessThanOrEqual(longestStep);
      expect((await mirror.get("/healthz")).status).toBe(200);
    },
  );
});

it("a cold list of a provider of 600 versions for 15 platforms takes 50 ms of processor time for 500 of them, newest first", async () => {
  const { newestFirst, versions } = listLargeProvider();
  const list = JSON.stringify({ id: "acme/large", versions, warnings: null });
  const before = await processorTime();
  for (let asked = 0; asked < coldLists; asked++) {
    const index = (await ask.list(list)).json() as { versions: object };
    expect(Object.keys(index.versions)).toEqual(newestFirst);
  }
  const lists = (coldLists * versions.length) / 500;
  const each = ((await processorTime()) - before) / lists;
  console.info(
    `a cold list: ${each.toFixed(1)} ms of processor time for 500 versions`,
  );
  expect(each).toBeLessThanOrEqual(50);
});

/** Milliseconds that the mirror has taken since its start, all threads together. */
async function processorTime(): Promise<number> {
  const seconds = "process_cpu_seconds_total";
  return (await readMetric(mirror, seconds)) * 1_000;
}
