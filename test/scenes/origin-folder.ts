import { hash } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  makeRelease,
  type Release,
  type ReleaseOptions,
} from "../fakes/release.ts";
import type { Signer } from "../fakes/signing.ts";
import { scratch } from "../running-mirror.ts";

export type Files = Record<string, Uint8Array | string>;

export const folderHost = "registry.example.com";

const manifest = '{"version":1,"metadata":{"protocol_versions":["6.0"]}}\n';

/** Makes a dist as goreleaser does, with a line for its manifest. */
export function makeDist(options: ReleaseOptions): Promise<Release> {
  const { type = "widget", version } = options;
  const line = `${hash("sha256", manifest)}  terraform-provider-${type}_${version}_manifest.json\n`;
  return makeRelease({ ...options, editChecksums: (text) => text + line });
}

function filesOf(release: Release): Files {
  const name = `terraform-provider-${release.type}_${release.version}`;
  const archives = release.archives.map((one) => [one.filename, one.bytes]);
  return {
    ...(Object.fromEntries(archives) as Files),
    [`${name}_SHA256SUMS`]: release.checksums,
    [`${name}_SHA256SUMS.sig`]: release.signature,
    [`${name}_manifest.json`]: manifest,
  };
}

export function writeFiles(folder: string, files: Readonly<Files>): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), content);
  return folder;
}

/** A folder that stands for a registry, with the keys of `acme`. */
export function makeOriginFolder(...signers: readonly Signer[]): string {
  const root = scratch("providers");
  const keys = signers.map((one) => [`${one.keyId}.asc`, one.armoredPublicKey]);
  writeFiles(join(root, "acme", "keys"), Object.fromEntries(keys) as Files);
  return root;
}

/** Puts a release in its place by rename; `edit` changes its files before. Returns its folder. */
export async function putRelease(
  root: string,
  release: Release,
  edit: (files: Files) => Promise<void> | void = () => undefined,
): Promise<string> {
  const files = filesOf(release);
  await edit(files);
  const folder = join(root, "acme", release.type, release.version);
  const made = writeFiles(join(scratch("dist"), "made"), files);
  mkdirSync(join(root, "acme", release.type), { recursive: true });
  renameSync(made, folder);
  return folder;
}
