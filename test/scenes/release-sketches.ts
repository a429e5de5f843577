import {
  judgeEvidence,
  type SignatureJudge,
  type StoredEvidence,
  unknownRelease,
  type KnownRelease,
} from "../../src/mirror/releases/evidence.ts";
import type { ReleaseProof } from "../../src/mirror/releases/release.ts";
import type { Fingerprint } from "../../src/verification/fingerprints.ts";
import { releaseOf } from "./composed-mirror.ts";
import { sha256Of, writeChecksums } from "./test-registry.ts";

export const address = releaseOf("thing", "1.0.0");

/** Sketch of a release for a table. */
interface Sketch {
  /** Signer; undefined for an unsigned release. */
  readonly by?: string | undefined;
  /** Such as `linux=a darwin=b`; a letter names a SHA-256. */
  readonly content?: string;
}

/** The digest that a letter of a sketch stands for. */
export const digestOf: (letter: string) => string = sha256Of;

/** A judge to whom every signature is good, and by this key. */
export function judgeFor(by: string): SignatureJudge {
  const createdAt = new Date("2025-01-01T00:00:00Z");
  const signedBy = by as Fingerprint;
  return {
    library: "a table",
    decide: () =>
      Promise.resolve({
        ...{ accepted: true, signedBy, createdAt, warning: undefined },
      }),
  };
}

/** The proof of a release whose signature was judged good, or excused. */
export function proofOf({ by, content = "linux=a" }: Sketch): ReleaseProof {
  const { provider, version } = address;
  const document = writeChecksums(provider, version, { content });
  return {
    document: new Uint8Array(document),
    signature: new Uint8Array(Buffer.from("signature")),
    ...{ keys: ["KEYS"], profile: "terraform", library: "none" },
    exemption: by === undefined ? "unsigned-when-published" : undefined,
    verifiedAt: new Date("2026-01-01T00:00:00Z"),
  };
}

export function evidenceOf(
  of: Sketch,
  noted?: StoredEvidence["noted"],
): Promise<StoredEvidence> {
  const judge = judgeFor(of.by ?? "nobody");
  return judgeEvidence(address, proofOf(of), [], judge, noted);
}

/** Makes a release with this evidence, pinned by the first of it. */
export async function knownOf(
  ...sketches: readonly Sketch[]
): Promise<KnownRelease> {
  const evidence = await Promise.all(
    sketches.map((one) => evidenceOf(one, "known")),
  );
  const [first] = evidence;
  const at = new Date("2026-01-01T00:00:00Z");
  const pinned = first && {
    content: first.content,
    sha256sums: first.sha256sums,
    signedBy: first.signedBy,
    at,
  };
  const trust = { ...unknownRelease.trust, evidence, pinned };
  return { ...unknownRelease, trust };
}
