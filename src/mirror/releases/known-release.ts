import { hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import type { ProvenderError } from "../../errors/index.ts";
import type { KeyLabel } from "../../origin/registries/registry-answers.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import type { SignedChecksums } from "../../verification/signed-checksums.ts";
import type { Content } from "../../trust/content.ts";
import { isInAgreement, type Served } from "../../trust/standing.ts";
import type { Evidence, ReleaseTrust } from "../../trust/state.ts";
import {
  bindPackages,
  checksumsSubject,
  pickNames,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
  type ReleaseProof,
} from "./release.ts";

/** Evidence with everything that is needed to verify it again. */
export interface StoredEvidence extends Evidence {
  readonly proof: ReleaseProof;
  /** One for each of the proof's keys, or none. */
  readonly keyLabels: readonly KeyLabel[];
  /** Undefined while it is not good. */
  readonly checksums: SignedChecksums | undefined;
  /** Reason why it is not good. */
  readonly fault: ProvenderError | undefined;
}

/** A release as the origin offered it over time, not yet admitted. */
export interface KnownRelease {
  readonly trust: ReleaseTrust<StoredEvidence>;
  /** Key blocks of the origin's last answer, ASCII-armored. */
  readonly keys: readonly string[];
  /**
   * Platforms as OS_ARCH that the origin ever offered; undefined when it lists
   * none.
   */
  readonly offered: ReadonlySet<string> | undefined;
  /** URLs of archives by OS_ARCH, of the last answer; not recorded. */
  readonly places: ReadonlyMap<string, string>;
}

/** A release of which nothing is known yet. */
export const unknownRelease: KnownRelease = {
  trust: { pinned: undefined, evidence: [], published: new Set() },
  keys: [],
  offered: undefined,
  places: new Map(),
};

/** Evidence that bounds do not drop: it counts for the release, or an operator decided on its content. */
export function isKept({
  pinned,
}: Pick<ReleaseTrust, "pinned">): (evidence: Evidence) => boolean {
  return (one) =>
    one.noted === "approved" ||
    one.noted === "revoked-content" ||
    (pinned !== undefined && isInAgreement(pinned, one));
}

/** Names the content of a SHA256SUMS, as operators see it. */
export function digestOf(document: Uint8Array): string {
  return hash("sha256", document);
}

/** Builds the evidence of an accepted signature, or of an exemption. */
export function goodEvidence(
  address: ReleaseAddress,
  proof: ReleaseProof,
  keyLabels: readonly KeyLabel[],
  checksums: SignedChecksums,
): StoredEvidence {
  const { signedBy, signedAt, exemption, sha256ByFilename } = checksums;
  return {
    ...identify(proof),
    ...{ proof, keyLabels, checksums, signedBy, signedAt, exemption },
    content: contentOf(address, sha256ByFilename),
    isGood: true,
    fault: undefined,
    noted: undefined,
  };
}

/** Recorded evidence that does not hold today; its content is still known. */
export function faultyEvidence(
  address: ReleaseAddress,
  proof: ReleaseProof,
  keyLabels: readonly KeyLabel[],
  signed: Pick<Evidence, "signedBy" | "signedAt">,
  fault: ProvenderError,
): StoredEvidence {
  return {
    ...identify(proof),
    ...{ proof, keyLabels, fault },
    ...{ signedBy: signed.signedBy, signedAt: signed.signedAt },
    exemption: proof.exemption,
    content: readContent(address, proof),
    isGood: false,
    checksums: undefined,
    noted: undefined,
  };
}

/** Reads which archives a document names; nothing is verified. */
export function readContent(
  address: ReleaseAddress,
  { document }: Pick<ReleaseProof, "document">,
): Content {
  const subject = checksumsSubject(address);
  return contentOf(address, parseChecksumsDocument(subject, document));
}

/** The release as clients see it; its digests come from verified checksums alone. */
export function viewOf(
  address: ReleaseAddress,
  known: KnownRelease,
  { evidence, packages }: Served<StoredEvidence>,
): Release | undefined {
  const { offered, places, trust } = known;
  const { checksums, proof, keyLabels } = evidence;
  if (checksums === undefined) return undefined;
  const bound = new Map<string, ReleasePackage>();
  for (const [name, { evidence: own }] of packages) {
    const found = bindOnce(address, own).get(name);
    if (found !== undefined && (offered?.has(name) ?? true))
      bound.set(name, found);
  }
  const firstSeen = trust.pinned?.at ?? proof.verifiedAt;
  const rest = { firstSeen, places, keyLabels };
  return { checksums, proof, packages: bound, ...rest };
}

const bindings = new WeakMap<
  StoredEvidence,
  ReadonlyMap<string, ReleasePackage>
>();

function bindOnce(
  address: ReleaseAddress,
  evidence: StoredEvidence,
): ReadonlyMap<string, ReleasePackage> {
  const known = bindings.get(evidence);
  if (known !== undefined) return known;
  const { checksums } = evidence;
  const bound =
    checksums === undefined
      ? new Map<string, ReleasePackage>()
      : bindPackages(address, checksums, undefined);
  bindings.set(evidence, bound);
  return bound;
}

/** A signature that nobody checked is no part of what was admitted: once there are keys for it, it is another piece of evidence. */
function identify({ document, signature, exemption }: ReleaseProof) {
  const sha256sums = digestOf(document);
  const checked = exemption === undefined ? signature : undefined;
  const parts = [Buffer.from(sha256sums), checked ?? new Uint8Array()];
  return { id: digestOf(Buffer.concat(parts)), sha256sums };
}

function contentOf(
  address: ReleaseAddress,
  digests: ReadonlyMap<string, Sha256>,
): Content {
  const content = new Map<string, Sha256>();
  for (const [platform, filename] of pickNames(address, digests)) {
    const sha256 = digests.get(filename);
    if (sha256 !== undefined) content.set(platform, sha256);
  }
  return content;
}
