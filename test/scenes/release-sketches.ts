import {
  judgeEvidence,
  type KnownRelease,
  type SignatureJudge,
  type StoredEvidence,
  unknownRelease,
} from "../../src/mirror/releases/evidence.ts";
import type { ReleaseProof } from "../../src/mirror/releases/release.ts";
import type { Fingerprint } from "../../src/verification/fingerprints.ts";
import type { SignatureDecision } from "../../src/verification/signatures.ts";
import { releaseOf } from "./composed-mirror.ts";
import { writeChecksums } from "./test-registry.ts";

export const address = releaseOf("thing", "1.0.0");

/** A release for a table. */
interface Sketch {
  /** Signer; undefined for an unsigned release. */
  readonly by?: string | undefined;
  /** Such as `linux=a darwin=b`; a letter names a SHA-256. */
  readonly content?: string;
}

/** A judge to whom every signature is good, and by this key. */
export function judgeFor(by: string): SignatureJudge {
  const decision: SignatureDecision = {
    accepted: true,
    signedBy: by as Fingerprint,
    createdAt: new Date("2025-01-01T00:00:00Z"),
  };
  return { library: "a table", decide: () => Promise.resolve(decision) };
}

export function proofOf({ by, content = "linux=a" }: Sketch): ReleaseProof {
  const { provider, version } = address;
  return {
    document: new Uint8Array(writeChecksums(provider, version, { content })),
    signature: new Uint8Array(Buffer.from("signature")),
    ...{ keys: ["KEYS"], profile: "terraform", library: "none" },
    exemption: by === undefined ? "unsigned-when-published" : undefined,
    verifiedAt: new Date("2026-01-01T00:00:00Z"),
  };
}

/** Evidence that was verified, as it is kept. */
export function evidenceOf(
  of: Sketch,
  noted?: StoredEvidence["noted"],
): Promise<StoredEvidence> {
  const judge = judgeFor(of.by ?? "nobody");
  return judgeEvidence(address, proofOf(of), [], judge, noted);
}

/** A release with this evidence, pinned by the first of it. */
export async function knownOf(
  ...sketches: readonly Sketch[]
): Promise<KnownRelease> {
  const all = sketches.map((one) => evidenceOf(one, "known"));
  const evidence = await Promise.all(all);
  const [first] = evidence;
  const at = new Date("2026-01-01T00:00:00Z");
  const pinned = first && {
    ...{ content: first.content, sha256sums: first.sha256sums, at },
    signedBy: first.signedBy,
  };
  const trust = { ...unknownRelease.trust, evidence, pinned };
  return { ...unknownRelease, trust };
}
