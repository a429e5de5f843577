import { expect } from "vitest";
import type { Answer, RunningMirror } from "../running-mirror.ts";
import { requestsFor } from "./provider-requests.ts";

/** `VERSION/download/OS/ARCH` as clients read it. */
interface PackageDocument {
  readonly download_url: string;
  readonly shasums_url: string;
  readonly shasums_signature_url: string;
  readonly signing_keys: { readonly gpg_public_keys: readonly unknown[] };
  readonly packages?: Readonly<
    Record<string, { readonly hashes: readonly string[] }>
  >;
}

/** Requests of a client behind a `host` block for one provider. */
export function registryRequestsFor(
  mirror: Pick<RunningMirror, "get" | "url">,
  type: string,
  hostname = "registry.terraform.io",
  namespace = "acme",
) {
  const base = `/v1/providers/${hostname}/${namespace}/${type}/`;
  const pathTo = (version: string, platform = "linux_amd64") =>
    `${version}/download/${platform.replace("_", "/")}`;
  const get = (path: string) => mirror.get(`${base}${path}`);
  type Asked = Parameters<typeof pathTo>;
  const ofPackage = (...asked: Asked) => get(pathTo(...asked));
  return {
    ...{ get, package: ofPackage, versions: () => get("versions") },
    document: async (...asked: Asked) => {
      const answer = await ofPackage(...asked);
      expect(answer.status, answer.body.toString()).toBe(200);
      return answer.json() as PackageDocument;
    },
    /** A URL of a package document, resolved as clients do. */
    follow: (reference: string, ...asked: Asked) => {
      const document = new URL(`${base}${pathTo(...asked)}`, mirror.url);
      return mirror.get(new URL(reference, document).pathname);
    },
    /** Everything that speaks of one version, but for its archive. */
    pathsOf: (version: string) => {
      const sums = `${version}/terraform-provider-${type}_${version}_SHA256SUMS`;
      return [pathTo(version), sums, `${sums}.sig`];
    },
  };
}

/** Asks every face for a version, and both protocols for the list of its provider. */
export async function askEveryFace(
  mirror: RunningMirror,
  version: string,
  type: string,
  namespace = "acme",
) {
  const ask = requestsFor(mirror, type, namespace);
  const facade = registryRequestsFor(mirror, type, undefined, namespace);
  const [document, archive, head, range, ...proof] = await Promise.all([
    ask.version(version),
    ask.archive(version),
    ask.archive(version, { method: "HEAD" }),
    ask.archive(version, { headers: { Range: "bytes=0-9" } }),
    ...facade.pathsOf(version).map((path) => facade.get(path)),
  ]);
  const [index, versions] = [await ask.index(), await facade.versions()];
  const answers: Readonly<Record<string, Answer>> = {
    ...{ document, archive, head, range },
    ...Object.fromEntries(proof.entries()),
  };
  return { document, archive, proof, answers, lists: { index, versions } };
}
