import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  parseProviderSpec,
  selectVersions,
  type VersionSelection,
} from "../../address/specs/provider-spec.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import {
  listHeld,
  type HeldPackage,
  type HeldQuestion,
  type HoldingParts,
} from "../../mirror/upkeep/held-packages.ts";

/** Options of a command that takes the SPEC of what is stored. */
export interface SpecOptions {
  readonly hosts: SpecHosts;
  readonly json: boolean;
}

/**
 * Finds the stored packages of SPECs, or all without one. Throws
 * malformed-address.
 */
export async function findHeld(
  parts: HoldingParts,
  spec: string | undefined,
  hosts: SpecHosts,
) {
  const question = readQuestion(spec, hosts);
  const { held, problems } = await sortOut(listHeld(parts, question));
  return { packages: held, problems };
}

/** Divides the list into packages and the errors of unreadable records. */
export async function sortOut<T extends object>(
  listed: AsyncIterable<T | Failure<"record-unreadable">>,
) {
  const held: T[] = [];
  const problems: Failure<"record-unreadable">[] = [];
  for await (const one of listed)
    if (isFailure(one, "record-unreadable")) problems.push(one);
    else held.push(one);
  return { held, problems };
}

/** Other than where packages are fetched, a SPEC without a constraint means every version. */
function readQuestion(
  spec: string | undefined,
  hosts: SpecHosts,
): HeldQuestion {
  if (spec === undefined) return { provider: undefined, choose: everyVersion };
  const { address: provider, selection } = parseProviderSpec(spec, hosts);
  return { provider, choose: choiceOf(spec, selection) };
}

export const everyVersion: HeldQuestion["choose"] = (versions) => versions;

export function choiceOf(
  spec: string,
  selection: VersionSelection,
): HeldQuestion["choose"] {
  return spec.includes("@")
    ? (all) => selectVersions(selection, all)
    : everyVersion;
}

/** Names a package as JSON does. */
export function namePackage({
  provider,
  version,
  platform,
  filename,
  sha256,
}: HeldPackage) {
  return {
    provider: formatProviderAddress(provider),
    version,
    platform: formatPlatform(platform),
    filename,
    sha256,
  };
}
