import { createHash } from "node:crypto";
import type { Release } from "../../src/mirror/releases/release.ts";
import {
  ownBytes,
  type SignatureJudge,
  judgeEvidence,
  type StoredEvidence,
} from "../../src/mirror/releases/evidence.ts";
import {
  unknownRelease,
  type KnownRelease,
} from "../../src/mirror/releases/known-release.ts";
import { accepting, address, believe } from "./believed-releases.ts";

/**
 * Sketch of a release for a table: its signer, and the content of each platform
 * as a letter.
 */
export interface Sketch {
  /** Signer; undefined for an unsigned release. */
  readonly by?: string | undefined;
  /** Such as `linux=a darwin=b`; a content names its SHA-256. */
  readonly content?: string;
}

/** The digest that a letter of a sketch stands for. */
export function digestOf(letter: string): string {
  return createHash("sha256").update(letter).digest("hex");
}

/** A judge to whom every signature is good, and by this key. */
export function judgeFor(by: string): SignatureJudge {
  return {
    library: "a table",
    decide: () => Promise.resolve(accepting(by)),
  };
}

/** Evidence that was verified, as it is kept. */
export async function evidenceOf(
  of: Sketch,
  noted?: StoredEvidence["noted"],
): Promise<StoredEvidence> {
  const { proof } = await sketch(of);
  const own = { ...proof, ...ownBytes(proof) };
  const judge = judgeFor(of.by ?? "nobody");
  return { ...(await judgeEvidence(address, own, [], judge)), noted };
}

/**
 * Makes a release with this evidence, pinned by the first of it.
 */
export async function knownOf(
  ...sketches: readonly Sketch[]
): Promise<KnownRelease> {
  const evidence = await Promise.all(
    sketches.map((one) => evidenceOf(one, "known")),
  );
  const [first] = evidence;
  return {
    ...unknownRelease,
    trust: { ...unknownRelease.trust, evidence, pinned: first && pin(first) },
  };
}

function pin({ content, sha256sums, signedBy }: StoredEvidence) {
  const at = new Date("2026-01-01T00:00:00Z");
  return { content, sha256sums, signedBy, at };
}

/** Makes a verified release. */
export async function sketch({
  by,
  content = "linux=a",
}: Sketch): Promise<Release> {
  return believe({
    archives: Object.fromEntries(pairs(content)),
    signedBy: by,
  });
}

function pairs(text: string): readonly (readonly [string, string])[] {
  return text
    .split(" ")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name = "", letter = ""] = pair.split("=");
      return [`${name}_amd64`, letter];
    });
}
