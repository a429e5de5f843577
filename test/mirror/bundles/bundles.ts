import { hash } from "node:crypto";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import {
  bundleLimits,
  openBundle,
  takeBundle,
} from "../../../src/commands/packages/import.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { openMirror } from "../../../src/wiring/open-mirror.ts";
import type { Authority } from "../../fakes/authority.ts";
import type { Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import type { CommandRun } from "../../running-command.ts";
import { runHere } from "../../running-here.ts";
import { scratch, writeConfiguration } from "../../running-mirror.ts";
import { listRecords } from "../../store/stores.ts";

/** A store, its configuration, and `provender` working on it. */
export interface Site {
  readonly directory: string;
  readonly configFile: string;
  readonly config: Readonly<Record<string, unknown>>;
  run(command: string, ...args: string[]): Promise<CommandRun>;
  /** Every file of blobs, records and staging by path, with the digest of its content and its times. */
  snapshot(): ReadonlyMap<string, string>;
}

export interface SiteOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly directory?: string;
  /** Configuration of the one origin. */
  readonly origin?: Readonly<Record<string, unknown>>;
}

/** A site that can ask the registry. */
export function connectedSite(
  authority: Authority,
  registry: Registry,
  options: SiteOptions = {},
): Site {
  const origins = originsOf(authority, registry, options.origin);
  return siteOf({ ...options, config: { ...origins, ...options.config } });
}

/** A site without a network: its origin is an address where nothing answers. */
export function offlineSite(options: SiteOptions = {}): Site {
  const origin = { url: "https://127.0.0.1:1/", ...options.origin };
  const origins = { "registry.terraform.io": origin };
  return siteOf({
    ...options,
    config: { offline: true, origins, ...options.config },
  });
}

export function siteOf({ config = {}, ...options }: SiteOptions): Site {
  const directory = options.directory ?? scratch("site");
  const configFile = join(scratch("config"), "provender.yaml");
  writeConfiguration(configFile, { storage: { directory }, ...config });
  return {
    directory,
    configFile,
    config,
    run: (command, ...args) =>
      runHere([command, "--config", configFile, ...args]),
    snapshot: () => snapshot(directory),
  };
}

/** The audit log grows with every refusal and is no part of what is served. */
function snapshot(directory: string): ReadonlyMap<string, string> {
  const files = globSync("{blobs,staging}/**", { cwd: directory })
    .map((path) => ({ path, stat: statSync(join(directory, path)) }))
    .filter(({ stat }) => stat.isFile());
  const digests = files.map(({ path, stat }): [string, string] => {
    const digest = digestOf(readFileSync(join(directory, path)));
    return [path, `${digest} ${stat.mtimeMs}`];
  });
  const records = listRecords(directory).map(
    ([name, body]): [string, string] => [`records/${name}`, body],
  );
  const all = [...digests, ...records];
  return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A bundle taken apart, to be put together otherwise. */
export interface BundleParts {
  readonly manifest: ManifestDocument;
  /** Members behind the manifest. */
  readonly members: readonly {
    readonly name: string;
    readonly bytes: Buffer;
  }[];
}

export interface ManifestDocument {
  format: string;
  releases: {
    provider: string;
    version: string;
    proof: string;
    platforms: string[];
    archives: Record<string, string>;
  }[];
  modules: ManifestModule[];
  proofs: { sha256: string; size: number }[];
  archives: { sha256: string; size: number }[];
  moduleArchives: { sha256: string; size: number }[];
}

export interface ManifestModule {
  module: string;
  version: string;
  sha256: string;
  format: string;
  subdirectory: string;
  commit?: string;
}

export function takeApart(bundle: Buffer): BundleParts {
  const members: { name: string; bytes: Buffer }[] = [];
  for (let at = 0; bundle[at] !== 0;) {
    const name = bundle.toString("latin1", at, at + 100).replace(/\0.*$/s, "");
    const size = parseInt(bundle.toString("latin1", at + 124, at + 135), 8);
    members.push({ name, bytes: bundle.subarray(at + 512, at + 512 + size) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  const [manifest, ...rest] = members;
  const document = JSON.parse(
    manifest?.bytes.toString("utf8") ?? "",
  ) as ManifestDocument;
  return { manifest: document, members: rest };
}

/** A well formed bundle of these parts; only what the parts say can be wrong with it. */
export function putTogether({ manifest, members }: BundleParts): Buffer {
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const all = [{ name: "manifest.json", bytes: text }, ...members];
  return Buffer.concat([...all.map(tarEntry), Buffer.alloc(1024)]);
}

export function tarEntry(member: {
  readonly name: string;
  readonly bytes: Buffer;
}): Buffer {
  const { name, bytes } = member;
  const size = bytes.length;
  const header = Buffer.alloc(512);
  header.write(name);
  header.write("0000644\0", 100);
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  const padding = Buffer.alloc(Math.ceil(size / 512) * 512 - size);
  return Buffer.concat([sealHeader(header), bytes, padding]);
}

/** A header that was changed and has the right checksum again. */
export function sealHeader(header: Buffer): Buffer {
  header.write(" ".repeat(8), 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

export function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes);
}

/** The path of a new bundle of these SPECs and flags; throws with what was said when something could not be had. */
export async function exportBundle(
  site: Site,
  ...args: readonly string[]
): Promise<string> {
  const file = join(scratch("bundle"), "bundle.tar");
  const { status, stderr } = await site.run("export", "--to", file, ...args);
  if (status !== 0) throw new Error(stderr);
  return file;
}

/** An offline site, and how it imports as the command does until the tests of the file are over; `changed` is what is there, gone or other then. */
export async function takingSite(options: SiteOptions) {
  const site = offlineSite(options);
  const configuration = loadConfiguration({ file: site.configFile });
  const core = await openMirror(configuration);
  afterAll(() => core.close());
  const { signal } = new AbortController();
  const take = async (bytes: Buffer) => {
    const file = join(scratch("tampered"), "bundle.tar");
    writeFileSync(file, bytes);
    const before = site.snapshot();
    let said = "";
    const say = (text: string) => void (said += text);
    const limits = bundleLimits(configuration);
    const status = await openBundle(file, undefined, limits, say)
      .then((bundle) => takeBundle(core, file, bundle, signal, say))
      .catch((error: unknown) => {
        said += (error as Error).message;
        return 1;
      });
    const after = site.snapshot();
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    );
    return { status, said, changed };
  };
  return { site, take };
}
