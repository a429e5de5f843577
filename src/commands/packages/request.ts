import type { Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { VersionSelection } from "../../address/specs/provider-spec.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import type { InputText } from "../inputs/input-file.ts";
import type { Version } from "../../address/version.ts";

/**
 * Sources of package requests: SPECs, files of SPECs, dependency lock files,
 * directories that are searched.
 */
export interface SelectionInput {
  readonly specs: readonly string[];
  /** SPECs of modules. */
  readonly modules: readonly string[];
  readonly lists: readonly InputText[];
  readonly lockFiles: readonly InputText[];
  readonly directories: readonly string[];
  readonly platforms: readonly Platform[];
  readonly hosts: SpecHosts;
}

/**
 * Versions that a request selects: one by name, all of a SPEC, or the newest
 * that a configuration allows.
 */
export type VersionChoice =
  | { readonly kind: "exact"; readonly version: Version }
  | { readonly kind: "every"; readonly selection: VersionSelection }
  | { readonly kind: "newest"; readonly selection: VersionSelection };

/** A provider that is asked for; `where` is the SPEC or FILE:LINE. */
export interface PackageRequest {
  readonly provider: ProviderAddress;
  readonly choice: VersionChoice;
  readonly where: string;
  /** Hashes from a dependency lock file. */
  readonly hashes?: readonly string[];
}
