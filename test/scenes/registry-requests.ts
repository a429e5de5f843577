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
export class RegistryRequests {
  readonly base: string;
  readonly #mirror: RunningMirror;
  readonly #type: string;

  constructor(
    mirror: RunningMirror,
    type: string,
    hostname = "registry.terraform.io",
    namespace = "acme",
  ) {
    this.#mirror = mirror;
    this.#type = type;
    this.base = `/v1/providers/${hostname}/${namespace}/${type}/`;
  }

  get(path: string): Promise<Answer> {
    return this.#mirror.get(`${this.base}${path}`);
  }

  versions(): Promise<Answer> {
    return this.get("versions");
  }

  package(version: string, platform = "linux_amd64"): Promise<Answer> {
    return this.get(packagePath(version, platform));
  }

  async document(
    version: string,
    platform = "linux_amd64",
  ): Promise<PackageDocument> {
    const answer = await this.package(version, platform);
    expect(answer.status, answer.body.toString()).toBe(200);
    return answer.json() as PackageDocument;
  }

  /** A URL of a package document, resolved as clients do. */
  follow(
    reference: string,
    version: string,
    platform = "linux_amd64",
  ): Promise<Answer> {
    const asked = `${this.base}${packagePath(version, platform)}`;
    const place = new URL(reference, new URL(asked, this.#mirror.url));
    return this.#mirror.get(place.pathname);
  }

  /** Everything that speaks of one version, but for its archive. */
  pathsOf(version: string): readonly string[] {
    const sums = `${version}/terraform-provider-${this.#type}_${version}_SHA256SUMS`;
    return [packagePath(version, "linux_amd64"), sums, `${sums}.sig`];
  }
}

function packagePath(version: string, platform: string): string {
  return `${version}/download/${platform.replace("_", "/")}`;
}

/** Asks every face for a version, and both protocols for the list of its provider. */
export async function askEveryFace(
  mirror: RunningMirror,
  version: string,
  type: string,
  namespace = "acme",
) {
  const ask = requestsFor(mirror, type, namespace);
  const facade = new RegistryRequests(mirror, type, undefined, namespace);
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
