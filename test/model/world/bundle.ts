import { hash } from "node:crypto";
import { isSha256, type Sha256 } from "../../../src/address/hash.ts";
import { parsePlatform } from "../../../src/address/platform.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import {
  importBundle,
  type ImportParts,
} from "../../../src/mirror/bundles/import-bundle.ts";
import {
  type BundledRelease,
  type BundleFile,
  formatProof,
} from "../../../src/mirror/bundles/bundle-file.ts";
import { readFailure, type Answer } from "./answers.ts";
import type { MirrorProcess } from "./mirror-process.ts";
import type { Offer } from "./registry.ts";
import { hostname, namespace } from "./settings.ts";

/** Result of an import: the versions that it took, or why it failed. */
export interface Imported {
  readonly taken: readonly string[];
  readonly answer: Answer;
}

/** Imports a bundle of some releases into a process. */
export async function importInto(
  { composed, life }: MirrorProcess,
  offers: readonly Offer[],
): Promise<Imported> {
  const taken: string[] = [];
  const answer = importAll(composed.importing, offers, taken);
  const first = await Promise.race([answer.catch(readFailure), life.died]);
  return { taken, answer: first === "dead" ? { kind: "dead" } : first };
}

async function importAll(
  parts: ImportParts,
  offers: readonly Offer[],
  taken: string[],
): Promise<Answer> {
  const { signal } = new AbortController();
  for await (const one of importBundle(parts, makeBundle(offers), signal))
    if (!("refused" in one)) taken.push(one.name.split(" ")[1] ?? "");
  return { kind: "versions", versions: taken };
}

/** Makes a bundle in memory; its archives are stored already. */
function makeBundle(offers: readonly Offer[]): BundleFile {
  const proofs = new Map<string, Buffer>();
  const releases = offers.map((offer) => {
    const bytes = proofOf(offer);
    const proof = hash("sha256", bytes);
    proofs.set(proof, bytes);
    return describe(offer, proof);
  });
  const contents = { proofs: [], archives: [], moduleArchives: [] };
  const bundle = {
    manifest: { releases, modules: [], ...contents },
    carries: (sha256: string) => proofs.has(sha256),
    sizeOf: () => undefined,
    verify: () => Promise.resolve(),
    readProof: (sha256: string) => Promise.resolve(proofs.get(sha256)),
  };
  return bundle as unknown as BundleFile;
}

function proofOf({ signed, blocks }: Offer): Buffer {
  const { text, signature } = signed;
  const document = Buffer.from(text);
  const claim = { document, signature, keys: blocks };
  return formatProof(claim);
}

function describe({ signed }: Offer, proof: string): BundledRelease {
  const { type, version, digests } = signed;
  return {
    provider: providerAddress(hostname, namespace, type),
    version: parseVersion(version),
    proof: proof as Sha256,
    platforms: Object.keys(digests).map(parsePlatform),
    archives: Object.fromEntries(
      Object.entries(digests).flatMap(([platform, sha256]) =>
        isSha256(sha256) ? [[platform, sha256] as const] : [],
      ),
    ),
  };
}
