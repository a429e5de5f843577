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
  listLargeProvider,
  mostVersions,
  versionsOf,
  fifteenPlatforms,
  filledWith,
  nested,
} from "../../scenes/large-documents.ts";
import {
  outcomeOf,
  readMetric,
  requestsFor,
} from "../../scenes/provider-requests.ts";

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
    "200",
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
