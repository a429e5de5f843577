import semver from "semver";
import { failure } from "../errors/index.ts";

/** A strict semantic version without a leading `v`, at most 128 characters. */
export type Version = string & { readonly __brand: "version" };

export function parseVersion(text: string): Version {
  if (!isVersion(text))
    throw failure(
      "malformed-address",
      "version",
      text,
      "a semantic version such as 1.2.3 or 1.2.3-beta1",
    );
  return text;
}

export function isVersion(text: string): text is Version {
  return parse(text) !== null;
}

export function isPrerelease(version: Version): boolean {
  return /^[^+]*-/.test(version);
}

/**
 * The version that clients mean by a spelling of a module registry, such as
 * `v1.2.0`, `1.2` or `1.2.0.0` (go-version, "NewVersion"); undefined for what is none, or has a fourth number.
 */
export function normalVersion(spelled: string): Version | undefined {
  const [, major = "", minor = "0", patch = "0", rest = ""] =
    /^v?(\d{1,15})(?:\.(\d{1,15}))?(?:\.(\d{1,15}))?(?:\.0{1,15})*([+\-A-Za-z].*)?$/.exec(
      spelled,
    ) ?? [];
  const suffix = rest.replace(/^(?=[A-Za-z])/, "-");
  const version = `${[major, minor, patch].map(Number).join(".")}${suffix}`;
  return major !== "" && isVersion(version) ? version : undefined;
}

/** Semantic precedence, oldest first; build metadata and then the text (`+1`, "+01") decide last, so that the order is total. */
export function compareVersions(a: Version, b: Version): number {
  return compareParsed(new semver.SemVer(a), new semver.SemVer(b));
}

/** Without what is no version. Each is parsed once, which takes longer than the sorting. */
export function newestFirst(texts: Iterable<string>): readonly Version[] {
  return Array.from(texts, parse)
    .filter((parsed) => parsed !== null)
    .sort((a, b) => compareParsed(b, a))
    .map(({ raw }) => raw as Version);
}

function parse(text: string): semver.SemVer | null {
  return text.length <= 128 && /^[0-9]\S*$/.test(text)
    ? semver.parse(text)
    : null;
}

function compareParsed(a: semver.SemVer, b: semver.SemVer): number {
  const order = a.compare(b) || a.compareBuild(b);
  return order || (a.raw < b.raw ? -1 : Number(a.raw > b.raw));
}
