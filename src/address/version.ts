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
  return (
    text.length <= 128 &&
    /^[0-9]/.test(text) &&
    semver.valid(text) !== null &&
    !/\s/.test(text)
  );
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
  return compareParsed(parseOnce(a), parseOnce(b));
}

/** Each is parsed once, which takes longer than the sorting. */
export function newestFirst(versions: Iterable<Version>): readonly Version[] {
  return Array.from(versions, parseOnce)
    .sort((a, b) => compareParsed(b, a))
    .map(({ version }) => version);
}

interface ParsedVersion {
  readonly version: Version;
  readonly parsed: semver.SemVer;
}

function parseOnce(version: Version): ParsedVersion {
  return { version, parsed: new semver.SemVer(version) };
}

function compareParsed(a: ParsedVersion, b: ParsedVersion): number {
  const { version: one } = a;
  const { version: other } = b;
  const order = a.parsed.compare(b.parsed) || a.parsed.compareBuild(b.parsed);
  return order || (one < other ? -1 : Number(one > other));
}
