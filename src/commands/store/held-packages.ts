import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  parseProviderSpec,
  selectVersions,
  splitSpec,
  type VersionSelection,
} from "../../address/provider-spec.ts";
import { RecordUnreadable } from "../../errors/index.ts";
import {
  listHeld,
  type HeldPackage,
  type HeldQuestion,
  type HoldingParts,
} from "../../mirror/upkeep/held-packages.ts";

/** What is held of SPECs, of everything without one. Throws MalformedAddress. */
export async function findHeld(parts: HoldingParts, spec: string | undefined) {
  const { held, problems } = await sortOut(listHeld(parts, readQuestion(spec)));
  return { packages: held, problems };
}

/** What is held, and apart from it why a record cannot be believed. */
export async function sortOut<T extends object>(
  listed: AsyncIterable<T | RecordUnreadable>,
) {
  const held: T[] = [];
  const problems: RecordUnreadable[] = [];
  for await (const one of listed)
    if (one instanceof RecordUnreadable) problems.push(one);
    else held.push(one);
  return { held, problems };
}

/** Other than where packages are fetched, a SPEC without a constraint means every version. */
function readQuestion(spec: string | undefined): HeldQuestion {
  if (spec === undefined) return { provider: undefined, choose: everyVersion };
  const { address: provider, selection } = parseProviderSpec(spec);
  return { provider, choose: choiceOf(spec, selection) };
}

export const everyVersion: HeldQuestion["choose"] = (versions) => versions;

export function choiceOf(
  spec: string,
  selection: VersionSelection,
): HeldQuestion["choose"] {
  return splitSpec(spec).chosen === undefined
    ? everyVersion
    : (all) => selectVersions(selection, all);
}

/** As JSON names a package. */
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
