import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { runImport } from "../../../src/commands/packages/import.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import type { Core } from "../../../src/wiring/core.ts";
import {
  wireBundleLimits,
  openMirror,
} from "../../../src/wiring/commands/store.ts";
import { scratch } from "../../running-mirror.ts";
import {
  makeModuleCalls,
  moduleHost,
  otherHost,
} from "../../scenes/module-calls.ts";
import {
  digestOf,
  exportBundle,
  offlineSite,
  putTogether,
  sealHeader,
  siteOf,
  takeApart,
  type ManifestModule,
  type Site,
} from "./bundles.ts";

let good: Buffer;
/** Has imported nothing, and has imported the good bundle. */
export let fresh: Site;
export let seen: Site;
const cores = new Map<Site, Core>();

export async function startSites(): Promise<void> {
  const scene = await makeModuleCalls();
  const from = siteOf({ config: scene.config });
  const flags = ["--module", `${moduleHost}/acme/network/aws@1.1.0`];
  const file = await exportBundle(from, "--platform", "linux_amd64", ...flags);
  good = readFileSync(file);
  await scene.stop();
  const nowhere = { url: "https://127.0.0.1:1/" };
  const config = {
    offline: true,
    origins: {
      [moduleHost]: nowhere,
      [otherHost]: nowhere,
      "registry.terraform.io": nowhere,
    },
    policy: { rules: [{ match: `${moduleHost}/banned/*/*`, action: "deny" }] },
  };
  [fresh, seen] = [offlineSite({ config }), offlineSite({ config })];
  for (const site of [fresh, seen])
    cores.set(
      site,
      await openMirror(loadConfiguration({ file: site.configFile }), "a test"),
    );
  expect(await importInto(seen, good)).toMatchObject({ status: 0 });
}

export async function stopSites(): Promise<void> {
  for (const core of cores.values()) await core.close();
}

/** As the command does, in this process. */
export async function importInto(site: Site, bytes: Buffer) {
  const file = join(scratch("tampered"), "bundle.tar");
  writeFileSync(file, bytes);
  const core = cores.get(site);
  if (core === undefined) throw new Error("not opened");
  const limits = wireBundleLimits(loadConfiguration({ file: site.configFile }));
  const { signal } = new AbortController();
  let said = "";
  const status = await runImport(core, { file, limits, signal }, (text) => {
    said += text;
  }).catch((error: unknown) => {
    said += (error as Error).message;
    return 1;
  });
  return { status, said };
}

/** The good bundle without providers, so that nothing of a tampered one may be imported. */
export function parts() {
  const { manifest, members } = takeApart(Buffer.from(good));
  Object.assign(manifest, { releases: [], proofs: [], archives: [] });
  const own = members.filter(({ name }) => name.startsWith("modules/"));
  return {
    manifest,
    modules: two(manifest.modules),
    archives: two(manifest.moduleArchives),
    members: two(own),
  };
}

type Two<T> = [T, T, ...T[]];

function two<T>(all: T[] | undefined): Two<T> {
  if (all === undefined || all.length < 2) throw new Error("too few");
  return all as Two<T>;
}

/** Only the record of the first module was changed. */
export function withRecord(change: Readonly<Record<string, unknown>>): Buffer {
  const made = parts();
  Object.assign(made.modules[0], change);
  return putTogether(made);
}

/** One module, whose archive and record fit together. */
export function withArchive(
  bytes: Buffer,
  record: Partial<ManifestModule> = {},
): Buffer {
  const { manifest, modules } = parts();
  const sha256 = digestOf(bytes);
  const [first] = modules;
  manifest.modules = [{ ...first, sha256, ...record }];
  manifest.moduleArchives = [{ sha256, size: bytes.length }];
  return putTogether({
    manifest,
    members: [{ name: `modules/${sha256}`, bytes }],
  });
}

export function withHeader(change: (header: Buffer) => void): Buffer {
  const bytes = putTogether(parts());
  const from = bytes.indexOf("modules/", bytes.indexOf("\n}\n"));
  const header = bytes.subarray(from, from + 512);
  change(header);
  sealHeader(header);
  return bytes;
}

/** True for records that say what was offered beside what is pinned. */
function isOfCandidates(path: string): boolean {
  return path.includes("/trust/candidates/") || path.includes("/aws/archives/");
}

/** Imports into a site, and expects that nothing is there, gone or other after it but candidates. */
export async function expectNothing(site: Site, bytes: Buffer, reason: RegExp) {
  const before = site.snapshot();
  const { status, said } = await importInto(site, bytes);
  expect(said).toMatch(reason);
  expect(status).toBe(1);
  const after = site.snapshot();
  const paths = new Set([...before.keys(), ...after.keys()]);
  const changed = [...paths].filter(
    (path) => before.get(path) !== after.get(path),
  );
  expect(changed.filter((path) => !isOfCandidates(path))).toEqual([]);
}
