import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { parseSha256 } from "../../address/hash.ts";
import type { Kept } from "../cache/metadata-cache.ts";
import type { KnownRelease, StoredEvidence } from "./known-release.ts";
import type { ReleaseProof } from "./release.ts";
import { ownBytes } from "./verdict.ts";

const moment = z.iso.datetime().transform((text) => new Date(text));
const text = z.string();
const sha256 = text.transform(parseSha256);
const optional = <T extends z.ZodType>(shape: T) =>
  shape.nullable().transform((value) => value ?? undefined);

/** Digests by OS_ARCH. */
const content = z
  .record(text, sha256)
  .transform((digests) => new Map(Object.entries(digests)));

const label = text.optional();

const evidenceShape = z.object({
  document: text,
  signature: optional(z.base64()),
  keys: z.array(text),
  profile: z.enum(["terraform", "opentofu", "enforce", "strict"]),
  exemption: optional(z.enum(["unsigned-when-published", "signatures-off"])),
  verifiedAt: moment,
  library: text,
  signedBy: optional(text),
  signedAt: optional(moment),
  keyLabels: z.array(
    z
      .object({
        id: label,
        trustSignature: label,
        source: label,
        sourceUrl: label,
      })
      .transform(({ id, trustSignature, source, sourceUrl }) => ({
        ...{ id, trustSignature, source, sourceUrl },
      })),
  ),
  noted: optional(
    z.enum([
      ...["configured", "approved", "known", "same-digests", "existed"],
      ...["first-key", "new", "signatures-off", "unsigned"],
      ...["revoked", "revoked-content", "not-pinned", "unknown"],
      ...["other-content", "signature"],
    ] as const),
  ),
});

const releaseShape = z.object({
  confirmedAt: moment,
  pinned: optional(
    z.object({
      content,
      sha256sums: text,
      signedBy: optional(text),
      at: moment,
      isAudited: z.boolean(),
    }),
  ),
  evidence: z.array(evidenceShape),
  published: z.array(text),
  keys: z.array(text),
  offered: optional(z.array(text)),
});

/** The record of a release. */
export type ReleaseBody = Readonly<z.infer<typeof releaseShape>>;
export type EvidenceBody = ReleaseBody["evidence"][number];

export function readReleaseBody(body: unknown): ReleaseBody {
  return releaseShape.parse(body);
}

export function writeReleaseBody({
  value: { trust, keys, offered },
  confirmedAt,
}: Kept<KnownRelease>) {
  const { pinned, evidence, published } = trust;
  return {
    confirmedAt: confirmedAt.toISOString(),
    pinned: pinned === undefined ? null : writePinned(pinned),
    evidence: evidence.map(writeEvidence),
    published: [...published],
    keys,
    offered: offered === undefined ? null : [...offered],
  };
}

export function readProof(evidence: EvidenceBody): ReleaseProof {
  const { keys, profile, exemption, verifiedAt, library } = evidence;
  const { document, signature } = evidence;
  return {
    ...{ keys, profile, exemption, verifiedAt, library },
    ...ownBytes({
      document: Buffer.from(document, "utf8"),
      signature:
        signature === undefined ? undefined : Buffer.from(signature, "base64"),
    }),
  };
}

/** Milliseconds after which a record is written again although nothing in it is new. */
const worthWriting = 1_000;

/** True for a body that repeats a recent record. */
export function isUnchanged(
  before: ReleaseBody | undefined,
  body: unknown,
): boolean {
  if (before === undefined) return false;
  const next = releaseShape.parse(body);
  const { confirmedAt } = before;
  const later = next.confirmedAt.getTime() - confirmedAt.getTime();
  const isLate = later < 0 || later >= worthWriting;
  return !isLate && isDeepStrictEqual(before, { ...next, confirmedAt });
}

function writePinned(pinned: NonNullable<KnownRelease["trust"]["pinned"]>) {
  return {
    ...pinned,
    content: Object.fromEntries(pinned.content),
    signedBy: pinned.signedBy ?? null,
    at: pinned.at.toISOString(),
  };
}

function writeEvidence(evidence: StoredEvidence) {
  const { proof, signedBy, signedAt, keyLabels, noted } = evidence;
  const { document, signature, exemption, verifiedAt, ...terms } = proof;
  const { keys, profile, library } = terms;
  return {
    ...{ keys, profile, library },
    document: Buffer.from(document).toString("utf8"),
    signature:
      signature === undefined
        ? null
        : Buffer.from(signature).toString("base64"),
    exemption: exemption ?? null,
    verifiedAt: verifiedAt.toISOString(),
    signedBy: signedBy ?? null,
    signedAt: writeDate(signedAt),
    keyLabels: keyLabels.map((one) =>
      Object.fromEntries(
        Object.entries(one).filter(([, value]) => value !== undefined),
      ),
    ),
    noted: noted ?? null,
  };
}

/** Formats a date. A signature's date may exceed the range of dates. */
function writeDate(date: Date | undefined): string | null {
  return date === undefined || Number.isNaN(date.getTime())
    ? null
    : date.toISOString();
}
