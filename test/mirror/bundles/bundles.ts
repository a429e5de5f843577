import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeStorage } from "../../commands/storage.ts";
import { digestOf } from "../../fakes/archive.ts";
import type { Authority } from "../../fakes/authority.ts";
import { tarEntry } from "../../fakes/module-archive.ts";
import type { Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { runHere } from "../../running-here.ts";
import { scratch } from "../../running-mirror.ts";
import { listRecords } from "../../store/stores.ts";

type Config = Readonly<Record<string, unknown>>;

export type Site = ReturnType<typeof siteOf>;

/** A store, its configuration, and `provender` working on it. */
export function siteOf(config: Config) {
  const { directory, configFile } = makeStorage(config);
  const list = (pattern: string) =>
    globSync(pattern, { cwd: directory })
      .filter((path) => statSync(join(directory, path)).isFile())
      .toSorted();
  const describe = (path: string): [string, string] => {
    const digest = digestOf(readFileSync(join(directory, path)));
    return [path, `${digest} ${statSync(join(directory, path)).mtimeMs}`];
  };
  return {
    ...{ directory, configFile, config },
    run: (command: string, ...args: readonly string[]) =>
      runHere([command, "--config", configFile, ...args]),
    /** Every file of blobs and staging by path, with the digest of its content and its time, and every record. */
    snapshot: (): ReadonlyMap<string, string> =>
      new Map([
        ...list("{blobs,staging}/**").map(describe),
        ...listRecords(directory).map(
          ([name, body]) => [`records/${name}`, body] as const,
        ),
      ]),
    /** Names of the stored archives. */
    blobs: () => list("blobs/**").map((path) => path.replace(/^.*\//, "")),
  };
}

/** A site that can ask the registry. */
export function connectedSite(
  authority: Authority,
  registry: Registry,
  config: Config = {},
): Site {
  return siteOf({ ...originsOf(authority, registry), ...config });
}

/** A site without a network: its origin is an address where nothing answers. */
export function offlineSite(config: Config = {}): Site {
  const origins = { "registry.terraform.io": { url: "https://127.0.0.1:1/" } };
  return siteOf({ offline: true, origins, ...config });
}

type Member = readonly [name: string, content: Buffer];

/** A bundle taken apart, to be put together otherwise; `members` are behind the manifest. */
export interface BundleParts {
  readonly manifest: {
    releases: {
      provider: string;
      proof: { document: string; signature: string | null; keys: string[] };
      platforms: string[];
      archives: Record<string, string>;
    }[];
    modules: { sha256: string }[];
    contents: { sha256: string; size: number }[];
  };
  readonly members: Member[];
}

export function takeApart(bundle: Buffer): BundleParts {
  const all: Member[] = [];
  for (let at = 0; bundle[at] !== 0;) {
    const name = bundle.toString("latin1", at, at + 100).replace(/\0.*$/s, "");
    const size = parseInt(bundle.toString("latin1", at + 124, at + 135), 8);
    all.push([name, bundle.subarray(at + 512, at + 512 + size)]);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  const [[, text] = [], ...members] = all;
  const manifest = JSON.parse(String(text)) as BundleParts["manifest"];
  return { manifest, members };
}

/** A well formed bundle of these parts; only what the parts say can be wrong with it. */
export function putTogether({ manifest, members }: BundleParts): Buffer {
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const all: Member[] = [["manifest.json", text], ...members];
  const entries = all.map(([name, content]) => tarEntry({ name, content }));
  return Buffer.concat([...entries, Buffer.alloc(1024)]);
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

/** A new offline site, and how it imports; `changed` is what is there, gone or other then. */
export function takingSite(config: Config) {
  const site = offlineSite(config);
  const take = async (bytes: Buffer) => {
    const file = join(scratch("tampered"), "bundle.tar");
    writeFileSync(file, bytes);
    const before = site.snapshot();
    const { status, stderr: said } = await site.run("import", file);
    const after = site.snapshot();
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    );
    return { status, said, changed };
  };
  return { site, take };
}
