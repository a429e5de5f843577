import type { Sha256 } from "../address/hash.ts";

/** The content of a release: SHA-256 of each archive, by OS_ARCH. */
export type Content = ReadonlyMap<string, Sha256>;

/** True when both name the same digest for every platform that both name. */
export function agrees(one: Content, other: Content): boolean {
  return one.entries().every(([platform, sha256]) => {
    const known = other.get(platform);
    return known === undefined || known === sha256;
  });
}

/** True when every archive of `one` is in `other`, and `one` has any. */
export function isWithin(one: Content, other: Content): boolean {
  return (
    one.size > 0 &&
    one.entries().every(([platform, sha256]) => other.get(platform) === sha256)
  );
}

/** Adds the platforms of `more` that `content` does not name; returns `content` itself where there are none. */
export function widen(content: Content, more: Content): Content {
  const isWider = more.keys().some((platform) => !content.has(platform));
  return isWider ? new Map([...more, ...content]) : content;
}
