import { failure } from "../../errors/index.ts";
import type { ProviderAddress } from "../provider-address.ts";
import { readProviderSpec, type SpecHosts } from "./spec.ts";
import {
  isAllowed,
  isPrerelease,
  parseModuleConstraint,
  parseVersionConstraint,
  type VersionConstraint,
} from "../version-constraint.ts";
import { newestFirst, type Version } from "../version.ts";

/** Selection of a provider's or a module's versions. */
export type VersionSelection =
  | { readonly kind: "constraint"; readonly constraint: VersionConstraint }
  | { readonly kind: "all" }
  | { readonly kind: "latest"; readonly count: number };

/** A SPEC of the command line. */
interface ProviderSpec {
  readonly address: ProviderAddress;
  readonly selection: VersionSelection;
}

/**
 * `[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]`, where CONSTRAINT is Terraform's language, `all` or `latest:N`; without
 * one the latest version is meant.
 */
export function parseProviderSpec(
  text: string,
  hosts: SpecHosts,
): ProviderSpec {
  const { provider, chosen } = readProviderSpec(text, hosts);
  return { address: provider, selection: parseSelection(chosen, "provider") };
}

/** The selected ones of `versions`, newest first; prereleases only where a constraint names them. */
export function selectVersions(
  selection: VersionSelection,
  versions: readonly Version[],
): readonly Version[] {
  const ordered = newestFirst(versions);
  const released = ordered.filter((version) => !isPrerelease(version));
  switch (selection.kind) {
    case "constraint":
      return ordered.filter((v) => isAllowed(selection.constraint, v));
    case "all":
      return released;
    case "latest":
      return released.slice(0, selection.count);
  }
}

/** Parses the text after the `@` of a SPEC, whose constraint has the grammar of what the SPEC names. */
export function parseSelection(
  written: string | undefined,
  what: "provider" | "module",
): VersionSelection {
  if (written === undefined) return { kind: "latest", count: 1 };
  const text = written.trim();
  if (text === "all") return { kind: "all" };
  const parse =
    what === "provider" ? parseVersionConstraint : parseModuleConstraint;
  if (!text.startsWith("latest"))
    return { kind: "constraint", constraint: parse(text) };
  const count = /^latest:([1-9][0-9]{0,5})$/.exec(text)?.[1];
  if (count === undefined)
    throw failure(
      "malformed-address",
      "version selection",
      text,
      "latest:N with a number of versions, such as latest:3",
    );
  return { kind: "latest", count: Number(count) };
}
