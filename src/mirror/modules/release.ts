import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
  typeOfModule,
} from "../../address/module-address.ts";
import type { Version } from "../../address/version.ts";
import type { Sha256 } from "../../address/hash.ts";
import type { ModuleContent, ModulePin } from "../../trust/module-pin.ts";
import type { ReleaseAddress } from "../releases/release.ts";

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
  /** Of the record that it was made from; 0 for none. */
  readonly revision: number;
}

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

/**
 * One content of a release, as an origin or a bundle offered it. It is named by the SHA-256 of its archive; by its commit, with the archive
 * that was made of it; or, where only clients can fetch it, by where they do.
 */
export interface ModuleOffer extends ModuleContent {
  /** Commit of a git source, which is the digest. */
  readonly commit?: string | undefined;
  /** Place of the commit, or of what only clients can fetch. */
  readonly place?: ModulePlace | undefined;
  /** Undefined while it was not fetched. */
  readonly archive?: ModuleArchive | undefined;
  /** Reason why only clients can fetch it; undefined where the mirror can. */
  readonly foreign?: string | undefined;
}

export type ModuleTrust = ModulePin<ModuleOffer>;

export const unknownModule: ModuleTrust = { pinned: undefined, contents: [] };

/** Names the release as records and decisions do. */
export function asDecided({
  module,
  version,
}: ModuleReleaseAddress): ReleaseAddress {
  return { provider: typeOfModule(module), version };
}

export function formatModuleRelease({
  module,
  version,
}: ModuleReleaseAddress): string {
  return `${formatModuleAddress(module)} ${version}`;
}
