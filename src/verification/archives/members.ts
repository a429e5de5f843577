/** One thing that an archive would put on a disk. */
export interface ArchiveMember {
  /** Name as stored in the archive. */
  readonly name: string;
  readonly kind: "file" | "directory" | "symbolic link" | "hard link";
  /** Target of a link, as stored in the archive. */
  readonly target?: string | undefined;
}

/** Gets each member before its content, and returns a function that gets the content piece by piece. */
export type Visit = (
  member: ArchiveMember,
) => ((piece: Buffer) => void) | undefined;

/**
 * Longest accepted name or link target, in bytes. It is the longest path of
 * Linux, and deeper than any module.
 */
const longestPath = 4096;
const mostParts = 256;

/** The names of symbolic links, part by part, as disks compare them that know no case. */
interface LinkTree {
  readonly below: Map<string, LinkTree>;
  isLink: boolean;
}

/** What parts a path: `\` as well on some systems, where it is a letter on others. */
type Separator = "/" | RegExp;

/**
 * Returns the reason why unpacking would leave its folder on some system;
 * undefined when it stays inside. Links may lead only inside, and by `..` only at
 * the start of their target, since `link/..` is another place than it seems. No
 * member may lie below a link. The work is linear in the names.
 */
export function findEscape(
  members: readonly ArchiveMember[],
): string | undefined {
  return findEscapeBy(members, "/") ?? findEscapeBy(members, /[/\\]/);
}

function findEscapeBy(
  members: readonly ArchiveMember[],
  by: Separator,
): string | undefined {
  const links: LinkTree = { below: new Map(), isLink: false };
  for (const { name, kind, target = "" } of members) {
    const parts = splitPath(name, by);
    if (parts === undefined || (parts.length === 0 && kind !== "directory"))
      return `a member is named ${quote(name)}`;
    if (kind !== "symbolic link") continue;
    if (followLink(parts.slice(0, -1), target, by) === undefined)
      return `${quote(name)} is a link to ${quote(target)}`;
    addLink(links, parts);
  }
  for (const { name, kind, target = "" } of members) {
    if (leadsThrough(links, splitPath(name, by)?.slice(0, -1) ?? []))
      return `${quote(name)} lies below a link`;
    if (kind !== "hard link") continue;
    const parts = splitPath(target, by);
    if (parts === undefined || leadsThrough(links, parts))
      return `${quote(name)} is a link to ${quote(target)}`;
  }
  return undefined;
}

/**
 * Resolves a symbolic link in `folder`, given as its parts, to parts from the
 * top. Returns undefined when the target is outside or ambiguous.
 */
export function followLink(
  folder: readonly string[],
  target: string,
  by: Separator = "/",
): readonly string[] | undefined {
  if (target === "" || isOdd(target)) return undefined;
  const steps = target.split(by).filter((step) => step !== "" && step !== ".");
  const up = steps.findIndex((step) => step !== "..");
  const climbs = up < 0 ? steps.length : up;
  const down = steps.slice(climbs);
  if (down.includes("..") || steps.length > mostParts) return undefined;
  if (climbs > folder.length) return undefined;
  return [...folder.slice(0, folder.length - climbs), ...down];
}

/** Undefined for a path that leads out of the folder on any system, or that is too long. */
export function splitPath(
  path: string,
  by: Separator = "/",
): readonly string[] | undefined {
  if (path === "" || isOdd(path)) return undefined;
  const parts = path.split(by).filter((part) => part !== "" && part !== ".");
  return parts.includes("..") || parts.length > mostParts ? undefined : parts;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function addLink(links: LinkTree, parts: readonly string[]): void {
  let place = links;
  for (const part of parts) {
    const key = fold(part);
    const next = place.below.get(key) ?? { below: new Map(), isLink: false };
    place.below.set(key, next);
    place = next;
  }
  place.isLink = true;
}

/** True when a place on the path, the last one included, is a link. */
function leadsThrough(links: LinkTree, parts: readonly string[]): boolean {
  let place: LinkTree | undefined = links;
  for (const part of parts) {
    place = place.below.get(fold(part));
    if (place === undefined) return false;
    if (place.isLink) return true;
  }
  return false;
}

/** Case, the form of accents, and the ends that Windows cuts off make no difference. */
function fold(part: string): string {
  const name = part.replace(/:+\$data$/i, "");
  let end = name.length;
  while (end > 0 && (name[end - 1] === "." || name[end - 1] === " ")) end--;
  const kept = name.slice(0, end) || part;
  // Letters without a form in the other case, such as ΐ, fall into pieces that only NFC puts together again.
  return kept.normalize("NFC").toLowerCase().toUpperCase().normalize("NFC");
}

/** Too long, absolute on some system, or with control characters, which end a name or change what people are shown. */
function isOdd(path: string): boolean {
  return (
    path.length > longestPath ||
    Buffer.byteLength(path) > longestPath ||
    /^[/\\]|[\x00-\x1f\x7f]|^[A-Za-z]:/.test(path)
  );
}
