import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../running-mirror.ts";
import { damages, type Damage } from "./damage.ts";
import { digest, sha256Of } from "../scenes/failing-origin.ts";

const KiB = 1024;
/** Around the part that is held back. */
const sizes = [2 * KiB, 64 * KiB, 300_000];

interface Case {
  readonly damage: Damage;
  readonly release: Release;
}

let authority: Authority;
let registry: Registry;
let directory: string;
const cases: Case[] = [];
let spare: Release;

const config = () => originsOf(authority, registry);
const deadOrigin = () =>
  originsOf(authority, registry, { url: "https://127.0.0.1:1/" });

/** Several at once, because each waits for the disk. */
async function forEachCase(act: (one: Case) => Promise<void>): Promise<void> {
  const turn = pLimit(8);
  await Promise.all(cases.map((one) => turn(() => act(one))));
}

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  directory = scratch("damaged");
  spare = await registry.publish({ type: "spare", version: "1.0.0" });
  for (const damage of damages)
    for (const size of sizes) {
      const type = `demo${cases.length}`;
      const release = await registry.publish({ type, version: "1.0.0", size });
      cases.push({ damage, release });
    }
  const mirror = await startMirror({ config: config(), directory });
  expectRight(await askArchive(mirror, spare), spare);
  await forEachCase(async ({ release }) =>
    expectRight(await askArchive(mirror, release), release),
  );
  await mirror.stop();
}, 120_000);

afterAll(async () => {
  await registry.stop();
});

function blobOf(release: Release): string {
  const sha256 = sha256Of(release);
  return join(directory, "blobs", "v1", "sha256", sha256.slice(0, 2), sha256);
}

function pathOf({ type }: Release, document: string): string {
  return `/providers/registry.terraform.io/acme/${type}/${document}`;
}

async function askArchive(
  mirror: RunningMirror,
  release: Release,
): Promise<Answer> {
  const { filename } = release.archive("linux_amd64");
  return mirror.get(pathOf(release, filename));
}

function expectRight(answer: Answer, release: Release): void {
  expect([answer.status, answer.complete]).toEqual([200, true]);
  expect(digest(answer.body)).toBe(sha256Of(release));
}

/** Whole and right, or visibly neither. */
function isFalse({ status, complete, body }: Answer, release: Release) {
  return status === 200 && complete && digest(body) !== sha256Of(release);
}

function isGood(release: Release): boolean {
  const path = blobOf(release);
  return (
    existsSync(path) &&
    lstatSync(path).isFile() &&
    digest(readFileSync(path)) === sha256Of(release)
  );
}

function damageAll(pathOf: (release: Release) => string): void {
  for (const { damage, release } of cases)
    damage.apply(pathOf(release), pathOf(spare));
}

const title = `${damages.length} kinds of damage × ${sizes.length} sizes`;

describe(title, () => {
  it("to archives with the origin down are clean errors, and no body is complete", async () => {
    damageAll(blobOf);
    const mirror = await startMirror({ config: deadOrigin(), directory });
    const answers = new Map<string, number>();
    await forEachCase(async ({ release }) => {
      const answer = await askArchive(mirror, release);
      expect(isFalse(answer, release)).toBe(false);
      const said = `${answer.status} ${(answer.json() as { code: string }).code}`;
      answers.set(said, (answers.get(said) ?? 0) + 1);
    });
    await mirror.stop();
    const clean = ["502 origin-unreachable", "503 origin-suspended"];
    const sum = clean.reduce((n, said) => n + (answers.get(said) ?? 0), 0);
    expect(sum).toBe(cases.length);
    expect(cases.filter(({ release }) => isGood(release))).toEqual([]);
  });

  it("to archives are found before the last byte and healed from the origin, also while the mirror runs", async () => {
    const mirror = await startMirror({ config: config(), directory });
    await forEachCase(async ({ release }) =>
      expectRight(await askArchive(mirror, release), release),
    );
    damageAll(blobOf);
    let unseen = 0;
    await forEachCase(async ({ release }) => {
      const first = await askArchive(mirror, release);
      expect(isFalse(first, release)).toBe(false);
      if (first.complete && first.status === 200) unseen++;
      expectRight(await askArchive(mirror, release), release);
    });
    await mirror.stop();
    expect(cases.filter(({ release }) => !isGood(release))).toEqual([]);
    const alarms = mirror.log.filter(
      ({ alarm }) => alarm === "archive-damaged",
    );
    // A missing archive raises no alarm.
    expect(alarms).toHaveLength(cases.length - sizes.length);
    console.log(
      `damaged archives: ${cases.length}, healed: ${cases.length}, of them unseen by the client: ${unseen}, false bodies: 0`,
    );
  });
});
