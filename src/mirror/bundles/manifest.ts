import { z } from "zod";
import { parseSha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  parseModuleAddress,
} from "../../address/module-address.ts";
import { archiveFormats } from "../../address/module-archive-name.ts";
import { parseSubdirectory } from "../../address/module-source.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { formatModuleRelease } from "../modules/release.ts";
import { formatRelease, type ReleaseProof } from "../releases/release.ts";
import type { ReleaseEvidence } from "../releases/evidence.ts";

export const manifestName = "manifest.json";

/** One text for each, so that no other text leads to the same. */
function named<T>(parse: (text: string) => T, format: (one: T) => string) {
  const decode = (text: string) => {
    const one = parse(text);
    if (format(one) !== text)
      throw new RangeError("its manifest is not in its canonical form");
    return one;
  };
  return z.codec(z.string(), z.custom<T>(), { decode, encode: format });
}

const sha256 = named(parseSha256, String);
const version = named(parseVersion, String);
const contents = z.array(
  z.strictObject({ sha256, size: z.int().nonnegative() }),
);
/** `proof` is the SHA-256 of its bytes, `platforms` are what the registry offers, `archives` are the exported ones. */
const release = z.strictObject({
  provider: named(parseProviderAddress, formatProviderAddress),
  version,
  proof: sha256,
  platforms: z.array(named(parsePlatform, formatPlatform)),
  archives: z.record(z.string().regex(/^[a-z0-9]+_[a-z0-9]+$/), sha256),
});
const moduleRelease = z.strictObject({
  module: named((text) => parseModuleAddress(text, ""), formatModuleAddress),
  version,
  sha256,
  format: z.enum(archiveFormats),
  subdirectory: z.string().refine((text) => parseSubdirectory(text) === text),
  commit: z
    .string()
    .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
    .optional(),
});
const shape = z.strictObject({
  format: z.literal("provender-bundle/1"),
  releases: z.array(release),
  modules: z.array(moduleRelease),
  proofs: contents,
  archives: contents,
  moduleArchives: contents,
});

/** A release of which packages were exported. */
export type BundledRelease = z.output<typeof release>;

/** A version of a module, as clients get it. */
export type BundledModule = z.output<typeof moduleRelease>;

/** Proof or archive by the SHA-256 of its bytes. */
export type BundleContent = z.output<typeof contents>[number];

/** The first member of a bundle. What it lists and does not carry, the receiver is expected to have. */
export type BundleManifest = Omit<z.output<typeof shape>, "format">;

export function formatManifest(manifest: BundleManifest): string {
  const whole = { format: "provender-bundle/1", ...manifest } as const;
  return `${JSON.stringify(z.encode(shape, whole), null, 2)}\n`;
}

/** Throws for another form, RangeError with the reason for a content that is none. */
export function parseManifest(text: string): BundleManifest {
  const manifest = shape.parse(JSON.parse(text));
  expectListed(manifest);
  return manifest;
}

/** A regular file in a bundle. */
export interface BundleMember extends BundleContent {
  readonly name: string;
}

const names = {
  proof: (sha256: string) => `proofs/${sha256}.json`,
  archive: (sha256: string) => `archives/${sha256}.zip`,
  module: (sha256: string) => `modules/${sha256}`,
};

/** Lists the members behind the manifest, in their order. */
export function listMembers(manifest: BundleManifest): readonly BundleMember[] {
  const { proofs, archives, moduleArchives } = manifest;
  return [
    ...proofs.map((one) => ({ ...one, name: names.proof(one.sha256) })),
    ...archives.map((one) => ({ ...one, name: names.archive(one.sha256) })),
    ...moduleArchives.map((one) => ({
      ...one,
      name: names.module(one.sha256),
    })),
  ];
}

/** Requires each carried item to belong to a release, and everything to be listed once. */
function expectListed(manifest: BundleManifest): void {
  const { releases, modules } = manifest;
  const members = listMembers(manifest);
  const listed = [
    ...releases.map(formatRelease),
    ...modules.map(formatModuleRelease),
    ...members.map((one) => one.sha256),
  ];
  if (new Set(listed).size < listed.length)
    throw new RangeError("its manifest lists something twice");
  const spoken = new Set([
    ...releases.map((one) => names.proof(one.proof)),
    ...releases.flatMap((one) =>
      Object.values(one.archives).map(names.archive),
    ),
    ...modules.map((one) => names.module(one.sha256)),
  ]);
  if (!members.every(({ name }) => spoken.has(name)))
    throw new RangeError("it carries what none of its releases speaks of");
}

const proofShape = z.strictObject({
  document: z.string(),
  signature: z.base64().nullable(),
  keys: z.array(z.string()),
});

/**
 * Formats the verification material of a release, as the origin published it.
 * The verdict stays behind with its time and policy: the receiver verifies for
 * itself.
 */
export function formatProof({
  document,
  signature,
  keys,
}: Pick<ReleaseProof, "document" | "signature" | "keys">): Buffer {
  const proof: z.output<typeof proofShape> = {
    document: Buffer.from(document).toString("utf8"),
    signature: signature ? Buffer.from(signature).toString("base64") : null,
    keys: [...keys],
  };
  return Buffer.from(`${JSON.stringify(proof, null, 2)}\n`);
}

/** Throws for what is not a proof. */
export function parseProof(bytes: Uint8Array): ReleaseEvidence {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const { document, signature, keys } = proofShape.parse(
    JSON.parse(text.decode(bytes)),
  );
  return {
    document: Buffer.from(document, "utf8"),
    signature:
      signature === null ? undefined : Buffer.from(signature, "base64"),
    keys,
  };
}

/** Bytes of the largest proof that the limits of its parts allow, in JSON. */
export function largestProof(limits: {
  readonly checksums: number;
  readonly signature: number;
  readonly keys: number;
}): number {
  return 2 * (limits.checksums + limits.signature + limits.keys);
}
