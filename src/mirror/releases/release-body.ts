import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import {
  parsePackageHash,
  parseSha256,
  type Sha256,
} from "../../address/hash.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import type { KeyLabel } from "../../origin/registries/registry-answers.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import type { Kept } from "../cache/metadata-records.ts";
import {
  checksumsSubject,
  type Release,
  type ReleaseAddress,
} from "./release.ts";
import { ownBytes } from "./verdict.ts";

const date = z.iso.datetime().transform((text) => new Date(text));

const label = z.string().optional();

/** By file name. */
const digests = z.record(z.string(), z.string().transform(parseSha256));

/** True in records that were written after their namespace's ledger record: if that is missing, it was lost. */
const hasLedger = z.literal(true).optional();

// A network mirror may tell of thousands: a transformation of each would take several times as long.
const packageHashes = z
  .array(z.string())
  .transform((all) => all.map((text) => parsePackageHash(text)));

const reports = z.array(
  z.object({
    platform: z.string(),
    packageHashes,
    size: z.number().nullable(),
    offered: packageHashes.optional(),
  }),
);

const releaseShape = z.object({
  confirmedAt: date,
  firstSeen: date,
  /** For people: what counts is what the proof says when it is judged. */
  signedBy: z.string().nullable().default(null),
  proof: z.object({
    source: z.enum(["registry", "network-mirror"]).default("registry"),
    document: z.string(),
    signature: z.base64().nullable(),
    keys: z.array(z.string()),
    profile: z.enum(["terraform", "opentofu", "enforce", "strict"]),
    exemption: z.enum(["unsigned-when-published", "signatures-off"]).nullable(),
    verifiedAt: date,
    library: z.string(),
  }),
  platforms: z.array(z.string().transform(parsePlatform)),
  reported: reports,
  // Records of earlier versions have none.
  keyLabels: z
    .array(
      z.object({
        id: label,
        trustSignature: label,
        source: label,
        sourceUrl: label,
      }),
    )
    .default([]),
  // Digests that were seen first and that the proof does not name.
  firstDigests: digests.default({}),
  hasLedger,
});

/** What is left of a release whose proof was dropped. */
const remainsShape = z.strictObject({
  firstDigests: digests,
  // Earlier versions kept none.
  reported: reports.default([]),
  hasLedger,
});

const shape = z.union([releaseShape, remainsShape]);

type RecordedRelease = Readonly<z.infer<typeof releaseShape>>;
export type ReleaseBody = Readonly<z.infer<typeof shape>>;

export function readReleaseBody(body: unknown): ReleaseBody {
  return shape.parse(body);
}

/** Undefined for what is left of a release whose proof was dropped. */
export function recordedRelease(
  body: ReleaseBody | undefined,
): RecordedRelease | undefined {
  return body !== undefined && "proof" in body ? body : undefined;
}

/** What is left of a release without its proof. */
export function writeRemains(
  address: ReleaseAddress,
  body: ReleaseBody | undefined,
) {
  const firstDigests = Object.fromEntries(firstDigestsOf(address, body));
  const { reported = [], hasLedger } = body ?? {};
  return { firstDigests, reported, hasLedger };
}

/** Every digest that was ever believed of a release, by file name. */
export function firstDigestsOf(
  address: ReleaseAddress,
  body: ReleaseBody | undefined,
): ReadonlyMap<string, Sha256> {
  const others = Object.entries(body?.firstDigests ?? {});
  const proof = recordedRelease(body)?.proof;
  const proved =
    proof &&
    parseChecksumsDocument(
      checksumsSubject(address),
      Buffer.from(proof.document, "utf8"),
    );
  return new Map([...others, ...(proved ?? [])]);
}

export function isSameDocument(
  { proof }: RecordedRelease,
  release: Release | undefined,
): boolean {
  return release !== undefined && proof.document === textOf(release);
}

/** Milliseconds after which a record is written again although nothing in it is new. */
const worthWriting = 1_000;

/** True for a body that says what is recorded already, and was lately. */
export function isNoNews(before: ReleaseBody | undefined, body: unknown) {
  const recorded = recordedRelease(before);
  if (recorded === undefined) return false;
  const next = releaseShape.parse(body);
  const { confirmedAt } = recorded;
  const later = next.confirmedAt.getTime() - confirmedAt.getTime();
  const isLate = later < 0 || later >= worthWriting;
  return !isLate && isDeepStrictEqual(recorded, { ...next, confirmedAt });
}

function textOf({ proof }: Release): string {
  return Buffer.from(proof.document).toString("utf8");
}

export function writeReleaseBody(
  { value, confirmedAt }: Kept<Release>,
  firstDigests: ReadonlyMap<string, Sha256>,
  hasLedger: true | undefined,
) {
  const { proof, packages, reported, keyLabels, firstSeen } = value;
  return {
    confirmedAt: confirmedAt.toISOString(),
    firstSeen: firstSeen.toISOString(),
    signedBy: value.checksums.signedBy ?? null,
    proof: {
      ...proof,
      document: textOf(value),
      signature: encodeSignature(proof.signature),
      exemption: proof.exemption ?? null,
      verifiedAt: proof.verifiedAt.toISOString(),
    },
    platforms: [...packages.values()].map(({ platform }) =>
      formatPlatform(platform),
    ),
    reported: [...reported].map(([platform, { size, ...hashes }]) => ({
      platform,
      ...hashes,
      size: size ?? null,
    })),
    keyLabels: keyLabels.map(writeLabel),
    firstDigests: Object.fromEntries(firstDigests),
    ...(hasLedger && { hasLedger }),
  };
}

/** Without what nobody said, as it is when it is read back. */
function writeLabel(label: KeyLabel): object {
  const said = Object.entries(label).filter(([, text]) => text !== undefined);
  return Object.fromEntries(said);
}

export function readProof(proof: RecordedRelease["proof"]): Release["proof"] {
  const { document, signature, exemption } = proof;
  return {
    ...proof,
    ...ownBytes({
      document: Buffer.from(document, "utf8"),
      signature:
        signature === null ? undefined : Buffer.from(signature, "base64"),
    }),
    exemption: exemption ?? undefined,
  };
}

function encodeSignature(signature: Uint8Array | undefined): string | null {
  return signature === undefined
    ? null
    : Buffer.from(signature).toString("base64");
}

export function readReported(
  reported: RecordedRelease["reported"],
): Release["reported"] {
  return new Map(
    reported.map(({ platform, size, ...hashes }) => [
      platform,
      { ...hashes, size: size ?? undefined },
    ]),
  );
}

export function readLabel({
  id,
  trustSignature,
  source,
  sourceUrl,
}: RecordedRelease["keyLabels"][number]): KeyLabel {
  return { id, trustSignature, source, sourceUrl };
}
