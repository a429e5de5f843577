import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import { json } from "../../fakes/faults.ts";
import {
  startRegistry,
  type PublishOptions,
  type Registry,
} from "../../fakes/registry.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { createSigner } from "../../fakes/signing.ts";
import { originsOf } from "../../origins.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  contentOnly,
  putIntoTree,
  startBehind,
  type Edit,
} from "../../scenes/mirror-tree.ts";
import {
  countAlarms,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { RegistryRequests } from "../../scenes/registry-requests.ts";

const [one, two, three] = ["A", "B", "C"].map(
  (letter) => `h1:${letter.repeat(42)}A=`,
) as [string, string, string];
const hostname = "registry.terraform.io";
const kind = "package-hash-conflict";

let authority: Authority;
let registry: Registry;
let mirror: RunningMirror;
let types = 0;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  mirror = await start();
});

afterEach(() => registry.heal());

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

/** Asks its origin at every request. */
function start(settings = {}, directory?: string): Promise<RunningMirror> {
  const freshness = { versions: "1ms", notFound: "1ms" };
  const config = { ...originsOf(authority, registry, settings), freshness };
  return startMirror({ config, ...(directory && { directory }) });
}

function publish(options: Partial<PublishOptions> = {}): Promise<Release> {
  types += 1;
  const type = `reported${types}`;
  return registry.publish({
    type,
    version: "1.0.0",
    packages: true,
    ...options,
  });
}

/** From now on the registry reports these for linux_amd64, and nothing without any. */
function report(...hashes: readonly string[]): void {
  const packages =
    hashes.length > 0 ? { linux_amd64: { hashes, package_size: 5 } } : {};
  registry.script(
    "package",
    json((document) => ({ ...document, packages })),
  );
}

/** Every h1 of linux_amd64, as both protocols tell it. */
async function servedHashes(
  { type }: Release,
  of = mirror,
  platform = "linux_amd64",
) {
  const version = await requestsFor(of, type).version("1.0.0");
  const { archives } = version.json() as {
    archives: Record<string, { hashes: string[] }>;
  };
  const document = await new RegistryRequests(of, type).document("1.0.0");
  const here = archives[platform]?.hashes ?? [];
  const there = document.packages?.[platform]?.hashes ?? [];
  expect([...there].toSorted()).toEqual([...here].toSorted());
  return here.filter((hash) => hash.startsWith("h1:"));
}

describe("what a registry reports first of an archive", () => {
  it("stays when it reports something else, with one alarm, also after a restart", async () => {
    const release = await publish();
    const before = await countAlarms(mirror, kind);
    report(one);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await countAlarms(mirror, kind)).toBe(before);
    report(two);
    for (let time = 0; time < 3; time++)
      expect(await servedHashes(release)).toEqual([one]);
    report(one);
    expect(await servedHashes(release)).toEqual([one]);
    report(two);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await countAlarms(mirror, kind)).toBe(before + 1);

    await mirror.stop();
    mirror = await start({}, mirror.directory);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await countAlarms(mirror, kind)).toBe(0);
    report(three);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await countAlarms(mirror, kind)).toBe(1);
  });

  it("stays when it adds another, and when it reports nothing any more", async () => {
    const release = await publish();
    report(one);
    expect(await servedHashes(release)).toEqual([one]);
    const before = await countAlarms(mirror, kind);
    report(two, one);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await countAlarms(mirror, kind)).toBe(before + 1);
    report();
    const version = await requestsFor(mirror, release.type).version("1.0.0");
    expect(version.body.toString()).toContain(one);
    expect(await countAlarms(mirror, kind)).toBe(before + 1);
  });

  it("stays when the release is judged again under other keys", async () => {
    const release = await publish();
    report(one);
    expect(await servedHashes(release)).toEqual([one]);
    const before = await countAlarms(mirror, kind);
    const signingKeys = [
      release.signer,
      await createSigner({ name: "another" }),
    ];
    registry.offer(release, { packages: true, signingKeys });
    report(two);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await servedHashes(release)).toEqual([one]);
    expect(await countAlarms(mirror, kind)).toBe(before + 1);
  });

  it("gives way to what the mirror computes itself", async () => {
    const release = await publish();
    report(one);
    expect(await servedHashes(release)).toEqual([one]);
    await requestsFor(mirror, release.type).archive("1.0.0");
    expect(await servedHashes(release)).toEqual([
      release.archive("linux_amd64").h1,
    ]);
  });
});

describe("what a registry reported first of a release whose evidence was spoiled", () => {
  /** The release's record has another signature with a whole seal, and `verify --repair` names it and leaves it. */
  async function spoilEvidence({ type, signature }: Release): Promise<void> {
    await mirror.stop();
    const records = new DiskRecords(layOutStore(mirror.directory));
    const key = ["providers", hostname, "acme", type, "releases", "1.0.0"];
    const asText = (body: unknown) => JSON.stringify(body);
    await records.change(key, asText, (body = "") => {
      const signed = Buffer.from(signature).toString("base64");
      expect(body).toContain(signed);
      return JSON.parse(body.replace(signed, "bm9uZQ==")) as unknown;
    });
    const repair = await runCommand(mirror, "verify", "--repair");
    expect([repair.status, repair.stdout]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^ {2}record  ${key.join("/")}  bad    The signature`, "m"),
      ),
    ]);
    mirror = await start({}, mirror.directory);
  }

  it.each([
    ["reports something else", [two]],
    ["adds another", [two, one]],
    ["reports nothing any more", []],
  ])("stays when it %s", async (_, later) => {
    const release = await publish();
    report(one);
    expect(await servedHashes(release)).toEqual([one]);
    await spoilEvidence(release);
    report(...later);
    for (let time = 0; time < 3; time++) {
      const version = await requestsFor(mirror, release.type).version("1.0.0");
      const { archives } = version.json() as {
        archives: Record<string, { hashes: string[] }>;
      };
      const { hashes = [] } = archives.linux_amd64 ?? {};
      expect(hashes.filter((hash) => hash.startsWith("h1:"))).toEqual([one]);
    }
    expect(await countAlarms(mirror, kind)).toBe(later.length > 0 ? 1 : 0);
  });
});

it("reportedHashes: withhold leaves out what is reported, on both protocols, and keeps what is computed", async () => {
  const withholding = await start({ reportedHashes: "withhold" });
  try {
    const platforms = ["linux_amd64", "darwin_arm64"];
    const release = await publish({ platforms });
    expect(await servedHashes(release, withholding)).toEqual([]);
    await requestsFor(withholding, release.type).archive("1.0.0");
    const { h1 } = release.archive("linux_amd64");
    expect(await servedHashes(release, withholding)).toEqual([h1]);
    expect(await servedHashes(release, withholding, "darwin_arm64")).toEqual(
      [],
    );
    expect(await servedHashes(release, mirror, "darwin_arm64")).toHaveLength(1);
  } finally {
    await withholding.stop();
  }
});

describe("the h1 by which alone a network mirror names an archive", () => {
  async function behind(later: Edit) {
    types += 1;
    const options = { type: `reported${types}`, version: "1.0.0" };
    const release = await makeRelease(options);
    const other = await makeRelease({ ...options, seed: "other" });
    const ca = join(scratch("ca"), "ca.pem");
    writeFileSync(ca, authority.caPem);
    const settings = { ca, signatures: "when-published" };
    const there = await startBehind(registry, hostname, settings, "t0ken");
    try {
      putIntoTree(registry, hostname, release, contentOnly);
      const ask = requestsFor(there, release.type);
      const before = (await ask.version("1.0.0")).json();
      putIntoTree(registry, hostname, other, later);
      const answers = [await ask.archive("1.0.0"), await ask.archive("1.0.0")];
      expect((await ask.version("1.0.0")).json()).toEqual(before);
      return answers.map(outcomeOf);
    } finally {
      await there.stop();
    }
  }

  it("stays when it names another by its h1", async () => {
    const answers = await behind(contentOnly);
    expect(answers).toEqual(Array(2).fill("451 archive-digest"));
  });

  it("stays when it names another by both hashes", async () => {
    const answers = await behind(() => undefined);
    expect(answers).toEqual(Array(2).fill("451 archive-digest"));
  });
});
