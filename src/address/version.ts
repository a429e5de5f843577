import semver from "semver";
import { MalformedAddress } from "../errors/index.ts";

/** A strict semantic version without a leading `v`, at most 128 characters. */
export type Version = string & { readonly __brand: "version" };

export function parseVersion(text: string): Version {
  if (!isVersion(text))
    throw new MalformedAddress(
      "version",
      text,
      "a semantic version such as 1.2.3 or 1.2.3-beta1",
    );
  return text;
}

export function isVersion(text: string): text is Version {
  return (
    text.length <= 128 &&
    /^[0-9]/.test(text) &&
    semver.valid(text) !== null &&
    !/\s/.test(text)
  );
}

/** Semantic precedence, oldest first; build metadata and then the text (`+1`, `+01`) decide last, so that the order is total. */
export function compareVersions(a: Version, b: Version): number {
  return semver.compareBuild(a, b) || (a < b ? -1 : Number(a > b));
}
