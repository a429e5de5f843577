import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority } from "../fakes/authority.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { startModuleRegistry } from "../fakes/module-registry.ts";
import type { GitBackend } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import type { Answer, RunningMirror } from "../running-mirror.ts";

export const moduleBase = "/v1/modules/registry.terraform.io/acme";

type Settings = Readonly<Record<string, unknown>>;

/** An origin of modules and how mirrors are started in front of it. */
export async function makeModuleScene(git?: GitBackend) {
  const authority = await createAuthority();
  const origin = await startModuleRegistry({ authority, git });
  const { origins } = originsOf(authority, origin);
  const [[host, own]] = Object.entries(origins) as [[string, { ca: string }]];
  return {
    origin,
    caFile: own.ca,
    /** Publishes `acme/MODULE/aws` at these versions as an archive of its own, whose bytes it returns. */
    async publishArchive(module: string, ...versions: readonly string[]) {
      const bytes = await tarGz([["main.tf", `# ${module}`]]);
      const url = origin.serve(`/files/${module}.tar.gz`, bytes);
      for (const version of versions.length === 0 ? ["1.0.0"] : versions)
        origin.publish(`acme/${module}/aws`, version, url);
      return bytes;
    },
    configOf: (settings: Settings = {}, originSettings: Settings = {}) => ({
      origins: { [host]: { ...own, ...originSettings } },
      ...settings,
    }),
  };
}

/** The versions of `acme/MODULE/aws`, or the status of another answer. */
export async function versionsOf(
  mirror: RunningMirror,
  module: string,
): Promise<readonly string[] | number> {
  const answer = await mirror.get(`${moduleBase}/${module}/aws/versions`);
  if (answer.status !== 200) return answer.status;
  const { modules } = answer.json() as {
    modules: { versions: { version: string }[] }[];
  };
  return (modules[0]?.versions ?? []).map(({ version }) => version);
}

/** Asks where a version of `acme/MODULE/aws` is. */
export function locate(
  mirror: RunningMirror,
  module: string,
  version = "1.0.0",
): Promise<Answer> {
  return mirror.get(`${moduleBase}/${module}/aws/${version}/download`);
}

export function placeOf(
  { url }: RunningMirror,
  module: string,
  file: string,
  version = "1.0.0",
): string {
  return `${url}${moduleBase.slice(1)}/${module}/aws/${version}/${file}`;
}

export function getArchive(
  mirror: RunningMirror,
  module: string,
  format = "tar.gz",
): Promise<Answer> {
  return mirror.get(`${moduleBase}/${module}/aws/1.0.0/archive.${format}`);
}

export async function removeBlobs({ directory }: RunningMirror): Promise<void> {
  const blobs = join(directory, "blobs", "v1", "sha256");
  for (const name of await readdir(blobs))
    await rm(join(blobs, name), { recursive: true });
}
