import { expect } from "vitest";
import type { Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import type { Signer } from "../fakes/signing.ts";
import type { Answer, RunningMirror } from "../running-mirror.ts";
import {
  digestsIn,
  listedIn,
  outcomeOf,
  requestsFor,
} from "./provider-requests.ts";
import { RegistryRequests, type PackageDocument } from "./registry-requests.ts";
import { digestsOf } from "./seen-releases.ts";

const type = "thing";
const platform = "linux_amd64";

/** A provider whose publisher changes keys, and each of its releases as its registry offers it now. */
export class Rotation {
  readonly namespace: string;
  readonly #registry: Registry;
  readonly #releases = new Map<string, Release>();
  /** Every signature that the publisher made, in hexadecimal digits. */
  readonly #signatures = new Map<string, Signer>();
  #published: readonly Signer[] = [];

  constructor(registry: Registry, namespace: string) {
    this.#registry = registry;
    this.namespace = namespace;
  }

  /** Signs a release, again with the same archives when there was one. */
  async sign(version: string, signer: Signer, signedAt?: Date): Promise<void> {
    const { namespace } = this;
    const release = await this.#registry.publish({
      ...{ namespace, type, version, signer, seed: namespace },
      ...(signedAt && { signedAt }),
      signingKeys: this.#published,
    });
    this.#releases.set(version, release);
    this.#signatures.set(asHex(release.signature), signer);
  }

  /** Publishes these keys with every release from now on. */
  publish(...keys: readonly Signer[]): void {
    this.#published = keys;
    for (const release of this.#releases.values())
      this.#registry.offer(release, { signingKeys: keys });
  }

  /** Asks for VERSION.json alone. */
  async ask(
    mirror: RunningMirror,
    hostname: string,
    version: string,
  ): Promise<string> {
    const ask = requestsFor(mirror, type, this.namespace, hostname);
    return outcomeOf(await ask.version(version));
  }

  /**
   * Asks every face for a release: index.json, VERSION.json and the archive, then
   * the registry protocol. Expects that a version is listed where it is served, and
   * nowhere else, and returns what clients get.
   */
  async look(
    mirror: RunningMirror,
    hostname: string,
    version: string,
  ): Promise<string> {
    const release = this.#releases.get(version);
    if (release === undefined) return "–";
    const ask = requestsFor(mirror, type, this.namespace, hostname);
    const facade = new RegistryRequests(mirror, type, hostname, this.namespace);
    const document = await ask.version(version);
    const archive = await ask.archive(version);
    const proof = await Promise.all(
      facade.pathsOf(version).map((path) => facade.get(path)),
    );
    const lists = [await ask.index(), await facade.versions()];
    const answers = [document, archive, ...proof];
    const outcome = outcomeOf(document);
    const about = `${hostname} ${this.namespace} ${version}`;
    expect([about, ...answers.map(outcomeOf)]).toEqual([
      about,
      ...answers.map(() => outcome),
    ]);
    expect([
      about,
      outcome,
      ...lists.map((list) => isListed(list, version)),
    ]).toEqual([about, outcome, ...lists.map(() => outcome === "200")]);
    if (outcome !== "200") return outcome;
    expect(digestsIn(document)).toEqual(digestsOf(release));
    expect(archive.body.equals(release.archive(platform).bytes)).toBe(true);
    return `served, ${this.#nameSigner(proof)}`;
  }

  /** Names the key of the signature in the registry protocol, which has to come with that key. */
  #nameSigner([document, sums, signature]: readonly Answer[]): string {
    const { signing_keys } = document?.json() as PackageDocument;
    const signer = this.#signatures.get(asHex(signature?.body ?? []));
    const ids = signing_keys.gpg_public_keys.map(({ key_id }) => key_id);
    expect(ids).toContain(signer?.keyId);
    expect(sums?.body.length).toBeGreaterThan(0);
    return signer?.name ?? "unknown";
  }
}

function asHex(bytes: Uint8Array | readonly number[]): string {
  return Buffer.from(bytes).toString("hex");
}

function isListed(answer: Answer, version: string): boolean {
  const listed = listedIn(answer);
  return typeof listed !== "string" && listed.includes(version);
}
