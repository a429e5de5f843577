import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { Version } from "../../address/version.ts";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import type { Content } from "../../trust/content.ts";
import type { Evidence, ReleaseTrust } from "../../trust/state.ts";

/** A module at a version. */
export interface ModuleReleaseAddress {
  readonly module: ModuleAddress;
  readonly version: Version;
}

/** Place of a release, as its registry names it. */
export interface ModulePlace {
  /** The registry's own text, which may hold secrets. */
  readonly location: string;
  /** URL that a relative location counts from. */
  readonly base: string;
}

/** The registry's present answer about a release. */
export interface ModuleRelease extends ModulePlace {
  /** Commit that a git source leads to. */
  readonly commit: string | undefined;
}

/** The archive of a release. */
export interface ModuleArchive {
  readonly sha256: Sha256;
  readonly format: ArchiveFormat;
  /** The module's folder in the archive; empty for the whole. */
  readonly subdirectory: string;
  readonly commit: string | undefined;
}

/** A release that only clients can fetch, and why. */
export interface ForeignRelease {
  readonly foreign: string;
}

export function isArchive(
  found: ModuleArchive | ForeignRelease | undefined,
): found is ModuleArchive {
  return found !== undefined && !("foreign" in found);
}

/** One content of a release, as an origin or a bundle offered it, unsigned. */
export interface ModuleEvidence extends Evidence {
  /** Commit of a git source, which names the content. */
  readonly commit: string | undefined;
  /** Place of the commit, or of what only clients can fetch. */
  readonly place: ModulePlace | undefined;
  /** Undefined while it was not fetched. */
  readonly archive: ModuleArchive | undefined;
  /** Reason why only clients can fetch it; undefined where the mirror can. */
  readonly foreign: string | undefined;
}

export type ModuleTrust = ReleaseTrust<ModuleEvidence>;

/** A release of which nothing is known yet. */
export const unknownModule: ModuleTrust = {
  ...{ pinned: undefined, evidence: [], published: new Set() },
};

/** Digits of a SHA-256. */
const sha256Length = 64;

/** Makes evidence of a content that is named by the SHA-256 of its archive or by its commit. */
export function evidenceOf(
  digest: string,
  offered: Partial<
    Pick<ModuleEvidence, "commit" | "place" | "archive" | "foreign" | "noted">
  >,
): ModuleEvidence {
  return {
    ...{ commit: undefined, place: undefined },
    ...{ archive: undefined, foreign: undefined, noted: undefined },
    ...offered,
    ...{ id: digest, sha256sums: digest, content: contentOf(digest) },
    ...{ signedBy: undefined, signedAt: undefined, exemption: undefined },
    isGood: true,
  };
}

/** A commit fills up to the length of a digest, so that no archive has the same. */
export function contentOf(digest: string): Content {
  return new Map([["", parseSha256(digest.padEnd(sha256Length, "0"))]]);
}

export function formatModuleRelease({
  module,
  version,
}: ModuleReleaseAddress): string {
  return `${formatModuleAddress(module)} ${version}`;
}
