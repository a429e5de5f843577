import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { Version } from "../../address/version.ts";
import type { Sha256 } from "../../address/hash.ts";

/** A module at a version. */
export interface ModuleReleaseAddress {
  readonly module: ModuleAddress;
  readonly version: Version;
}

/** Where the registry says that a release is. */
export interface ModuleRelease {
  /** As the registry wrote it, which may hold secrets. */
  readonly location: string;
  /** What a relative location counts from. */
  readonly base: string;
  /** Of a git source, the commit that was seen first. */
  readonly commit: string | undefined;
  /** Another commit that the same ref led to when it was last looked at. */
  readonly moved: string | undefined;
}

/** The archive of a release that was seen first. */
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

export function formatModuleRelease({
  module,
  version,
}: ModuleReleaseAddress): string {
  return `${formatModuleAddress(module)} ${version}`;
}
