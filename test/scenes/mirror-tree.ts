import type { Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { startMirror, type RunningMirror } from "../running-mirror.ts";

/** `archives` of a VERSION.json. */
export type Archives = Record<string, { url: string; hashes?: string[] }>;

export type Edit = (archives: Archives, release: Release) => void;

/** A release in the tree of a network mirror below `/tree/`, as `edit` changes its VERSION.json. */
export function putIntoTree(
  far: Registry,
  hostname: string,
  release: Release,
  edit: Edit = () => undefined,
): void {
  const base = `/tree/${hostname}/acme/${release.type}/`;
  const archives: Archives = Object.fromEntries(
    release.archives.map(({ platform, filename, sha256, h1 }) => [
      platform,
      { url: filename, hashes: [h1, `zh:${sha256}`] },
    ]),
  );
  edit(archives, release);
  far.serve(`${base}index.json`, '{"versions":{"1.0.0":{}}}');
  far.serve(`${base}1.0.0.json`, JSON.stringify({ archives }));
  for (const { filename, bytes } of release.archives)
    far.serve(`${base}${filename}`, bytes, "application/zip");
}

/** Leaves only content hashes, as `terraform providers mirror` does. */
export function contentOnly(archives: Archives): void {
  for (const archive of Object.values(archives))
    archive.hashes = (archive.hashes ?? []).filter((hash) =>
      hash.startsWith("h1:"),
    );
}

export function isArchiveOf({ type }: Release) {
  return ({ path }: { readonly path: string }) =>
    path.includes(`/${type}/`) && path.endsWith(".zip");
}

/** A mirror whose origin for `hostname` is the tree of `far`, asked at every request. */
export function startBehind(
  far: Registry,
  hostname: string,
  settings: Readonly<Record<string, unknown>>,
  token: string,
): Promise<RunningMirror> {
  const origin = {
    networkMirror: `${far.url}tree/`,
    token: { env: "MIRROR_TOKEN" },
    ...settings,
  };
  const config = {
    origins: { [hostname]: origin },
    freshness: { versions: "1ms", notFound: "1ms" },
  };
  return startMirror({ config, env: { MIRROR_TOKEN: token } });
}
