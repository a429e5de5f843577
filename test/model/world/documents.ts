import { hash } from "node:crypto";
import { zipBytes } from "../../verification/archives/zip-bytes.ts";
import { formatSignature, type KeyName } from "./toy-keys.ts";

/** A release by its names alone. */
export interface ReleaseName {
  readonly type: string;
  readonly version: string;
}

export function nameOfRelease({ type, version }: ReleaseName): string {
  return `${type}@${version}`;
}

/** SHA-256 of each archive, by OS_ARCH. */
export type Digests = Readonly<Record<string, string>>;

/** True where no platform has two digests. */
export function agree(one: Digests, other: Digests): boolean {
  return Object.entries(one).every(
    ([platform, sha256]) => (other[platform] ?? sha256) === sha256,
  );
}

/** True where one of the others has each archive. */
export function isWithin(one: Digests, others: readonly Digests[]): boolean {
  return Object.entries(one).every(([platform, sha256]) =>
    others.some((other) => other[platform] === sha256),
  );
}

/** A SHA256SUMS. */
export interface ChecksumsText extends ReleaseName {
  readonly digests: Digests;
  readonly text: string;
  /** SHA-256 of the text. */
  readonly sha256sums: string;
}

/** A SHA256SUMS with one signature, or with none. */
export interface SignedText extends ChecksumsText {
  readonly signer: KeyName | undefined;
  /** Milliseconds since 1970, as the signature says. */
  readonly signedAt: number;
  readonly signature: Uint8Array | undefined;
}

export const platforms = [
  "linux_amd64",
  "windows_amd64",
  "darwin_arm64",
] as const;

/** Providers: two of the publisher, and one that only lies name. */
export const types = ["a", "b", "x"] as const;

export const versions = ["1.0.0", "1.1.0", "2.0.0", "9.0.0"] as const;

/** Makes the SHA-256 of an archive: `MAKER RELEASE OS_ARCH NUMBER`. */
export function digestOfArchive(label: string): string {
  const zip = () => zipBytes([{ name: "terraform-provider", content: label }]);
  return remember(label, () => hash("sha256", zip()));
}

/** Names a document by its bytes, as approvals do. */
export function digestOfDocument(document: Uint8Array): string {
  const text = Buffer.from(document).toString();
  return remember(`document ${text}`, () => hash("sha256", text));
}

/** Writes a SHA256SUMS; `extra` adds lines of other files, which change nothing but the text. */
export function writeChecksums(
  name: ReleaseName,
  digests: Digests,
  extra = "",
): ChecksumsText {
  const lines = Object.entries(digests).map(
    ([platform, sha256]) =>
      `${sha256}  terraform-provider-${name.type}_${name.version}_${platform}.zip\n`,
  );
  const text = lines.join("") + extra;
  const sha256sums = digestOfDocument(Buffer.from(text));
  return { ...name, digests, text, sha256sums };
}

/** Signs a document, or leaves it unsigned. */
export function sign(
  checksums: ChecksumsText,
  signer: KeyName | undefined,
  signedAt: number,
): SignedText {
  const signature =
    signer && formatSignature(signer, signedAt, checksums.sha256sums);
  return { ...checksums, signer, signedAt, signature };
}

/** Documents come again in every sequence, and hashing is most of their cost. */
const digests = new Map<string, string>();
const mostRemembered = 50_000;

function remember(label: string, make: () => string): string {
  const known = digests.get(label);
  if (known !== undefined) return known;
  if (digests.size >= mostRemembered) digests.clear();
  const made = make();
  digests.set(label, made);
  return made;
}
