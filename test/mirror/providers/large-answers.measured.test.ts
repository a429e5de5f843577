import { expect, it } from "vitest";
import { watchLoopSteps } from "../../scenes/loop-steps.ts";
import {
  outcomeOf,
  readMetric,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

/** Bytes of the largest document that is accepted, and versions of the largest list. */
const largest = 8 * 2 ** 20;
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

/** Milliseconds for which one document at a limit may hold the event loop. */
const longestStep = 1_000;
/** Number of lists whose mean is taken. */
const coldLists = 20;
const host = "registry.terraform.io";

const steps = watchLoopSteps();
const { registry, mirror } = await startWorld(
  {},
  // Answers wait for the end of the work, so that it is measured whole.
  { ...steps.options, limits: { answer: 55_000 } },
);
registry.services["modules.v1"] = "/v1/modules/";

let types = 0;
const nextType = () => `large${++types}`;

interface Listed {
  readonly version: string;
  readonly platforms?: typeof fifteenPlatforms;
}

/** Asks for the list of a new provider, whose newest release is there, so that first contact can take it. */
async function askList(
  list: object,
  face: "network mirror" | "registry" = "network mirror",
  document = JSON.stringify(list),
) {
  const type = nextType();
  expect(document.length).toBeLessThanOrEqual(largest);
  const { versions = [] } = list as { versions?: readonly Listed[] };
  const version = `1.${versions.length - 1}.0`;
  const newest = versions.find((one) => one.version === version);
  if (newest !== undefined) {
    const { platforms = [] } = newest;
    const names = platforms.map(({ os, arch }) => `${os}_${arch}`);
    await registry.publish({ type, version, platforms: names, size: 100 });
  }
  registry.serve(`/v1/providers/acme/${type}/versions`, document);
  return face === "network mirror"
    ? requestsFor(mirror, type).index()
    : mirror.get(`/v1/providers/${host}/acme/${type}/versions`);
}

function askModules() {
  const list = JSON.stringify({
    modules: [versionsOf(mostVersions, () => ({}))],
  });
  const path = `acme/${nextType()}/aws/versions`;
  registry.serve(`/v1/modules/${path}`, list);
  return mirror.get(`/v1/modules/${host}/${path}`);
}

/** Asks for a package with so many keys; the files that it names are not there. */
function askPackage(count: number, ascii_armor: string) {
  const type = nextType();
  const folder = `/v1/providers/acme/${type}`;
  const linux = { os: "linux", arch: "amd64" };
  const list = versionsOf(1, () => ({ platforms: [linux] }));
  const found = {
    ...linux,
    filename: `terraform-provider-${type}_1.0.0_linux_amd64.zip`,
    ...{ download_url: "archive", shasum: "a".repeat(64) },
    ...{ shasums_url: "sums", shasums_signature_url: "signature" },
    signing_keys: { gpg_public_keys: Array(count).fill({ ascii_armor }) },
  };
  registry.serve(`${folder}/versions`, JSON.stringify(list));
  registry.serve(`${folder}/1.0.0/download/linux/amd64`, JSON.stringify(found));
  return requestsFor(mirror, type).version("1.0.0");
}

// Code that runs for the first time is slower than it will ever be again.
for (let round = 0; round < 3; round++) await askList(versionsOf(mostVersions));

const armor = `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${"A".repeat(8_000)}`;
const unusable = "502 origin-answer";
const longProtocols = versionsOf(100, () => ({
  protocols: ["5".repeat(80_000)],
  platforms: fifteenPlatforms,
}));
it.each<[string, () => ReturnType<typeof askModules>, string]>([
  [
    "a flat object",
    () => askList({}, undefined, `{${'"a":1,'.repeat(largest / 6 - 2)}"a":1}`),
    unusable,
  ],
  [
    "the longest list for 15 platforms",
    () => askList(versionsOf(mostVersions)),
    "200",
  ],
  [
    "the longest list, for clients behind a host block",
    () => askList(versionsOf(mostVersions), "registry"),
    "200",
  ],
  [
    "the longest list, with lists of platforms that differ",
    () =>
      askList(
        versionsOf(mostVersions, (n) => ({
          platforms: Array.from({ length: 5 }, (_, i) => ({
            ...{ os: `os${(n + i) % 500}`, arch: "amd64" },
          })),
        })),
      ),
    "200",
  ],
  [
    "a list of more platforms than anybody has",
    () =>
      askList(
        versionsOf(3_500, (n) => ({
          platforms: fifteenPlatforms.map(({ os }) => ({ os, arch: `a${n}` })),
        })),
      ),
    unusable,
  ],
  ["a list with long protocols", () => askList(longProtocols), "200"],
  ["the longest list of a module", askModules, "200"],
  [
    "a package with 1 000 keys",
    () => askPackage(1_000, armor),
    "404 not-found",
  ],
  ["a package with 100 000 keys", () => askPackage(100_000, ""), unusable],
])(
  "a document at a limit does not hold the event loop for a second: %s",
  { timeout: 120_000 },
  async (name, ask, outcome) => {
    steps.restart();
    const answer = await ask();
    const step = steps.longest();
    console.info(name, `${step.toFixed(0)} ms`);
    expect(outcomeOf(answer)).toBe(outcome);
    expect(step).toBeLessThanOrEqual(longestStep);
  },
);

it("a cold list of a provider of 600 versions for 15 platforms takes 50 ms of processor time for 500 of them, newest first", async () => {
  const count = 600;
  // Milliseconds that the mirror has taken since its start, all threads together.
  const processorTime = async () =>
    (await readMetric(mirror, "process_cpu_seconds_total")) * 1_000;
  const before = await processorTime();
  for (let asked = 0; asked < coldLists; asked++) {
    const { versions } = (await askList(versionsOf(count))).json() as {
      versions: object;
    };
    expect(Object.keys(versions)).toEqual(
      Array.from({ length: count }, (_, n) => `1.${count - 1 - n}.0`),
    );
  }
  const lists = (coldLists * count) / 500;
  const each = ((await processorTime()) - before) / lists;
  console.info(
    `a cold list: ${each.toFixed(1)} ms of processor time for 500 versions`,
  );
  expect(each).toBeLessThanOrEqual(50);
});

it("a release of as many platforms as may be holds the event loop for less than 100 ms while four clients ask for it, and one of more is refused", async () => {
  for (const [version, length] of [
    ["1.0.0", 256],
    ["2.0.0", 257],
  ] as const) {
    const platforms = Array.from({ length }, (_, n) => `linux_arch${n}`);
    await registry.publish({ type: "wide", version, size: 1_000, platforms });
  }
  const ask = requestsFor(mirror, "wide");
  expect(await ask.outcome("2.0.0")).toBe("451 checksums-malformed");
  expect(await ask.outcome("1.0.0")).toBe("200");
  steps.restart();
  for (let times = 0; times < 100; times++)
    await Promise.all(Array.from({ length: 4 }, () => ask.version("1.0.0")));
  const step = steps.longest();
  console.info("a wide release", `${step.toFixed(0)} ms`);
  expect(step).toBeLessThan(100);
});
